<%
h, w = k.h, k.w
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
%>\
/* Copies the inputs of one pixel side by side. */
TILEWRIGHT_MVE void ${f.name}_patch(const int8_t *x, int8_t *to, int top, int left, const tilewright_phase *p)
{
    int8_t *const end = to + p->depth;
    for (int row = top; row < top + ${times("p->taps_down", h.dilation)}; row += ${h.dilation}) {
        const int line = row * ${w.size * k.channels};
        const bool inside = row >= 0 && row < ${h.size};
% if w.dilation == 1:
        if (inside && left >= 0 && left + p->taps_across <= ${w.size}) {
            tilewright_mve_run(to, x + line + left * ${k.channels}, p->taps_across * ${k.channels});
            to += p->taps_across * ${k.channels};
            continue;
        }
% endif
        for (int column = left; column < left + ${times("p->taps_across", w.dilation)}; column += ${w.dilation}) {
            if (inside && column >= 0 && column < ${w.size}) {
                tilewright_mve_run(to, x + line + column * ${k.channels}, ${k.channels});
            } else {
                tilewright_mve_fill(to, ${k.zero_point}, ${k.channels});
            }
            to += ${k.channels};
        }
    }
    if (to < end) {
        const ptrdiff_t rest = end - to;
        tilewright_mve_fill(to, 0, (int)rest);
    }
}

TILEWRIGHT_MVE void ${f.name}_phase(const int8_t *x, const uint32_t *w, const int32_t *table, const int32_t *codes, int8_t *y, int8_t *patch, const tilewright_phase *p)
{
    const int8_t *const weights = (const int8_t *)w + p->weights;
    for (int row = 0; row < p->rows; row++) {
        for (int column = 0; column < p->columns; column++) {
            ${f.name}_patch(x, patch, row + p->top, column + p->left, p);
            int8_t *const to = y + ((p->first_row + row * ${h.stride}) * ${w.out} + p->first_column + column * ${w.stride}) * ${k.out_channels};
            tilewright_mve_row(patch, weights, table + p->table, to, p->depth / 16, ${k.out_channels}, codes);
        }
    }
}

static void ${f.name}(${f.parameters})
{
% for phase in k.phases:
    {
        static const tilewright_phase phase = {${", ".join(map(str, phase.members))}};
        ${f.name}_phase(x, w, table, codes, ${y}, scratch, &phase);
    }
% endfor
}
