<%
h, w, c = k.h, k.w, k.codes
even = k.out_channels // 2 * 2
x = "x" if k.x_type == "int8_t" else "(const int8_t *)x"
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
%>\
/* Copies the inputs of one pixel side by side. */
TILEWRIGHT_ONCE void ${f.name}_patch(const int8_t *x, int8_t *to, int top, int left, const tilewright_phase *p)
{
    int8_t *const end = to + p->depth;
    for (int row = top; row < top + ${times("p->taps_down", h.dilation)}; row += ${h.dilation}) {
        const int line = row * ${w.size * k.channels};
        const bool inside = row >= 0 && row < ${h.size};
% if w.dilation == 1:
        if (inside && left >= 0 && left + p->taps_across <= ${w.size}) {
            const int bytes = p->taps_across * ${k.channels};
            TILEWRIGHT_RUN(to, x + line + left * ${k.channels}, bytes);
            to = &to[bytes];
            continue;
        }
% endif
        for (int column = left; column < left + ${times("p->taps_across", w.dilation)}; column += ${w.dilation}) {
            if (inside && column >= 0 && column < ${w.size}) {
                TILEWRIGHT_RUN(to, x + line + column * ${k.channels}, ${k.channels});
            } else {
                (void)memset(to, ${k.zero_point}, ${k.channels});
            }
            to += ${k.channels};
        }
    }
    while (to < end) {
        *to++ = 0;
    }
}

% for b in sorted({phase.at_once for phase in k.phases}):
TILEWRIGHT_ONCE void ${f.name}_phase${b}(const int8_t *x, const uint32_t *w, const int32_t *table, const int32_t *codes, int8_t *y, void *scratch, const tilewright_phase *p)
{
    const int depth = p->depth;
    uint32_t *const xs = scratch;
    int8_t *const patch = (int8_t *)scratch + ${2 * b} * depth;
    w += p->weights;
    table += p->table;
    for (int row = 0; row < p->rows; row++) {
        for (int column = 0; column < p->columns; column += ${b}) {
            const int at = column < p->columns - ${b} ? column : p->columns - ${b};
            for (int j = 0; j < ${b}; j++) {
                ${f.name}_patch(x, patch + j * depth, row + p->top, at + j + p->left, p);
            }
            const int8_t *const sources[${b}] = {${", ".join("patch" if j == 0 else "patch + depth" if j == 1 else f"patch + {j} * depth" for j in range(b))}};
            tilewright_widen${b}${"_unsigned" if k.unsigned else ""}(sources, xs, depth / 4);
            int8_t *const to = y + ((p->first_row + row * ${h.stride}) * ${w.out} + p->first_column + at * ${w.stride}) * ${k.out_channels};
            tilewright_matrix${b}${c.form}(xs, w, table, to, depth / 2, ${even}, ${w.stride * k.out_channels}, codes);
% if k.out_channels % 2:
            tilewright_matrix${b}${c.form}(xs, w + ${even // 2} * (depth / 2), table + ${even * c.table_step}, to + ${k.out_channels - 2}, depth / 2, 2, ${w.stride * k.out_channels}, codes);
% endif
        }
    }
}

% endfor
static void ${f.name}(${f.parameters})
{
% for phase in k.phases:
    {
        static const tilewright_phase phase = {${", ".join(map(str, phase.members))}};
        ${f.name}_phase${phase.at_once}(${x}, w, table, codes, ${y}, scratch, &phase);
    }
% endfor
}
