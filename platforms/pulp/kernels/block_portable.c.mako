<%
p, g = k.plan, k.plan.geometry
q = g.requantise
L, YB = g.lanes, g.y_bytes
XB = 4 // L
%>\
/* The block as portable C: what the cores' instructions compute, read from the same stream of weights. */
% if k.covered:
#ifndef TILEWRIGHT_XPULP
% endif
static void ${f.name}_portable(tilewright_block *k, int pixels, int width, int left, int right)
{
    for (; k->units > 0; k->units--) {
        const int32_t *stream = k->w;
        for (unsigned char *y = k->y; y < k->y_end; y = &y[${times('width', YB)}]) {
            const ${k.w_type} *const taps = (const ${k.w_type} *)(const void *)((const char *)stream + k->words);
% if not k.sums:
            const int32_t *const numbers = stream + width * ${g.starts + p.rows * p.row_bytes // 4};
% endif
            for (int i = 0; i < pixels * width; i++) {
                const int pixel = i / width, c = i % width;
                int32_t acc = stream[k->starts / 4 + c];
                for (int row = 0; row < k->rows; row++) {
% if g.apart:
                    const int walked = ${plus(times('pixels', g.stride), (g.places - 1) * g.dilation)};
                    const ${k.x_type} *const x = (const ${k.x_type} *)(const void *)((const char *)k->x + row * (k->row_step + walked * k->x_step) + (y - k->y));
                    for (int tap = 0; tap < ${g.taps}; tap++) {
                        const int column = ${times('pixel', g.stride)} + ${times('tap' if g.parts == 1 else f'(tap / {g.parts})', g.dilation)};
                        const bool outside = column < left || column >= right;
                        const int value = outside ? ${g.zero_point} : x[(column - left) * ${'k->x_step' if XB == 1 else f'(k->x_step / {XB})'} + c];
                        acc += value * taps[((row * ${g.taps} + tap) * width + c) * ${L} + c];
                    }
% else:
                    for (int at = 0; at < ${p.row_bytes // XB}; at++) {
                        const int word = at / ${L * g.taps}, tap = at / ${L} % ${g.taps}${f' / {g.parts}' if g.parts > 1 else ''};
                        const int column = ${times('pixel', g.stride)} + ${times('tap', g.dilation)};
                        const ${k.x_type} *const x = (const ${k.x_type} *)(const void *)((const char *)k->x + row * (k->row_step + ${g.depth}));
                        const bool outside = column < left || column >= right;
                        const int value = outside ? ${g.zero_point} : x[(column - left) * ${g.depth // XB} + word * ${L} + at % ${L}];
                        acc += value * taps[(row * ${p.row_bytes // 4} + at / ${L}) * width * ${L} + c * ${L} + at % ${L}];
                    }
% endif
                }
% if k.sums:
                *(int32_t *)(void *)(y + pixel * k->y_step + c * 4) = acc;
% else:
% if q.own:
                const int32_t *const form = numbers + c * 3;
                int32_t code = ${q.c("acc", "form[0]", "form[1]", "form[2]")};
% else:
                int32_t code = ${q.c("acc", "numbers[c]")};
% endif
                code = code < ${q.form.low} ? ${q.form.low} : code;
                code = code > ${q.form.high} ? ${q.form.high} : code;
                *(${k.y_type} *)(void *)(y + pixel * k->y_step + ${times("c", YB)}) = (${k.y_type})code;
% endif
            }
            stream += width * ${p.channel_bytes // 4};
        }
        k->x = (const char *)k->x + k->x_unit;
        k->y += k->y_unit;
        k->y_end += k->y_unit;
    }
}
% if k.covered:
#endif
% endif
