<%
s = k.sizes
H, I = s.hidden, s.inputs
width = 8 + 4 * k.ratios
unit = 4 * (k.input_depth + k.state_depth) // k.codes_in_element
%>\
static void ${f.name}(${f.parameters})
{
    int32_t *const c = scratch;
    int16_t *const input = (int16_t *)(void *)(c + ${H});
    int16_t *const h = input + ${k.input_depth};
    int16_t *const next = h + ${k.state_depth};
    const int16_t *const zero = curve + 512;
    int32_t distance;
    const int32_t mantissa = tilewright_mantissa(x_scale[0] * ${k.factor}, &distance);
    const int32_t right = distance > 0 ? distance : 0;
    const int32_t left = distance < 0 ? -distance : 0;
    const int32_t half = right > 0 ? (int32_t)1 << (right - 1) : 0;
    (void)memset(input, 0, ${2 * (k.input_depth + k.state_depth)});
% for n, backwards in enumerate(s.directions):
    for (int entry = 0; entry < ${s.batch}; entry++) {
% if k.start_h or k.start_c:
        const int first = (${n * s.batch} + entry) * ${H};
% endif
        for (int i = 0; i < ${H}; i++) {
            h[i] = ${"(int16_t)tilewright_whole(initial_h[first + i], 32768.0f, 32767.0f)" if k.start_h else "0"};
            c[i] = ${"tilewright_whole(initial_c[first + i], 1048576.0f, 1073741824.0f)" if k.start_c else "0"};
        }
        for (int step = 0; step < ${s.steps}; step++) {
            const int at = ${f"{s.steps - 1} - step" if backwards else "step"};
            const ${k.x_type} *const codes = x + (at * ${s.batch} + entry) * ${I};
            const int32_t *row = table${f" + {n * H * width}" if n else ""};
            const ${k.w_type} *weights = w${f" + {n * H * unit}" if n else ""};
            for (int i = 0; i < ${I}; i++) {
                input[i] = (int16_t)((int32_t)codes[i] - (int32_t)x_zero[0]);
            }
            for (int i = 0; i < ${H}; i++) {
                int32_t sums[8], gate[4];
                weights = tilewright_unit(weights, input, ${k.input_depth}, ${k.state_depth}, sums);
% for g in range(4):
                {
% if k.ratios:
                    const int32_t sum = TILEWRIGHT_HIGH(sums[${g}] * ${1 << k.lift + 1}, row[${8 + g}], 0);
% else:
                    const int32_t sum = sums[${g}]${f" * {1 << k.lift}" if k.lift else ""};
% endif
                    const int32_t own = TILEWRIGHT_HIGH(sums[${4 + g}], row[${4 + g}], ${1 << k.shift - 1}) >> ${k.shift};
                    const int32_t part = TILEWRIGHT_HIGH(sum, mantissa, half) >> right;
                    gate[${g}] = row[${g}] + own + (left != 0 ? tilewright_widened(part, left) : part);
                }
% endfor
                row += ${width};
                const int32_t entered = (TILEWRIGHT_CURVE(zero, gate[0]) + 32768) * TILEWRIGHT_CURVE_OF_TWICE(zero, gate[3]);
                const int64_t kept = (int64_t)c[i] * (TILEWRIGHT_CURVE(zero, gate[2]) + 32768) + 32768;
                const int32_t cell = (int32_t)(kept >> 16) + ((entered + 1024) >> 11);
                const int32_t shown = cell >> 4;
                c[i] = cell;
                next[i] = (int16_t)(((TILEWRIGHT_CURVE(zero, gate[1]) + 32768) * TILEWRIGHT_CURVE_OF_TWICE(zero, shown) + 32768) >> 16);
            }
            (void)memcpy(h, next, ${2 * H});
% if k.results[0]:
            for (int i = 0; i < ${H}; i++) {
                y[((at * ${len(s.directions)} + ${n}) * ${s.batch} + entry) * ${H} + i] = (float)h[i] * 3.0517578125e-05f;
            }
% endif
        }
% if any(k.results[1:]):
        for (int i = 0; i < ${H}; i++) {
% if k.results[1]:
            y_h[(${n * s.batch} + entry) * ${H} + i] = (float)h[i] * 3.0517578125e-05f;
% endif
% if k.results[2]:
            y_c[(${n * s.batch} + entry) * ${H} + i] = (float)c[i] * 9.5367431640625e-07f;
% endif
        }
% endif
    }
% endfor
}
