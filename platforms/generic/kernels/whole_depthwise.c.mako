<%
h, w = k.h, k.w
taps = h.kernel * w.kernel
products = [(kh, kw) for kh in range(h.kernel) for kw in range(w.kernel)]
parts = [products[at:at + k.part] for at in range(0, taps, k.part)]
%>\
${f.storage} void ${f.name}(${f.parameters})
{
    static const tilewright_whole_shape shape = {${h.kernel}, ${w.kernel}, ${h.dilation}, ${w.dilation}, ${h.size}, ${w.size}, ${h.x_stride}, ${w.x_stride}, 1, 1, ${taps}, ${k.margin}, ${k.bits}};
    const tilewright_whole_weights weights = {w, tops, odd_at, odd};
% if k.on_stack:
    int32_t numbers[${h.kernel * k.reach}];
% else:
    int32_t *const numbers = (int32_t *)(void *)scratch;
% endif
    for (int at = 0; at < ${h.out * k.blocks}; at++) {
        const int oh = at / ${k.blocks}, first = ${times(f"(at % {k.blocks})", k.block)}, many = first < ${w.out - k.block} ? ${k.block} : ${w.out} - first;
        const int top = ${plus(times("oh", h.stride), -h.pad)}, base = ${plus(times("first", w.stride), -w.pad)};
        const int from_column = base < 0 ? 0 : base, to_column = base < ${w.size - k.reach} ? base + ${k.reach} : ${w.size};
        const int inside = from_column < to_column ? to_column - from_column : 0;
        for (int i = 0; i < ${h.kernel * k.reach}; i++) {
            numbers[i] = 0; /* what is outside of the image stays so */
        }
        for (int c = 0; c < ${k.channels}; c++) {
            const float *const image = x + ${times("c", k.x_channel)};
            const int32_t *const line = w + ${times("c", taps)};
            float *to = y + ${times("(" + times("oh", w.out) + " + first)", k.channels)} + c;
            tilewright_whole_window window = {image, top, base, 0u, ${taps}};
            tilewright_whole_seen seen = {0u, 0};
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                const int row = top + ${times("kh", h.dilation)};
                if (row >= 0 && row < ${h.size}) {
                    tilewright_whole_look(&seen, image + ${times("row", h.x_stride)} + ${times("from_column", w.x_stride)}, inside, ${w.x_stride});
                }
            }
            window.top = seen.largest >> 24;
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                const int row = top + ${times("kh", h.dilation)};
                if (row >= 0 && row < ${h.size}) {
                    tilewright_whole_numbers(numbers + ${times("kh", k.reach)} + (from_column - base), image + ${times("row", h.x_stride)} + ${times("from_column", w.x_stride)}, inside, ${w.x_stride}, window.top, ${k.bits});
                }
            }
            const int exponent = (int)window.top + (int)tops[c] - ${250 + k.bits};
            const int ordinary = tilewright_whole_ordinary(window.top, tops[c], 30);
            const int32_t *from = numbers;
            for (int ow = 0; ow < many; ow++) {
                int64_t sum = ${taps // 2};
% if taps <= k.unrolled:
% for part in parts:
                {
                    int32_t few = tilewright_whole_high(from[${part[0][0] * k.reach + part[0][1] * w.dilation}], line[${part[0][0] * w.kernel + part[0][1]}]);
% for kh, kw in part[1:]:
                    few += tilewright_whole_high(from[${kh * k.reach + kw * w.dilation}], line[${kh * w.kernel + kw}]);
% endfor
                    sum += few;
                }
% endfor
% else:
                for (int kh = 0; kh < ${h.kernel}; kh++) {
                    for (int kw = 0; kw < ${w.kernel}; kw++) {
                        sum += tilewright_whole_high(from[${times("kh", k.reach)} + ${times("kw", w.dilation)}], line[${times("kh", w.kernel)} + kw]);
                    }
                }
% endif
                from = &from[${w.stride}];
                float v;
                if (ordinary != 0 && (sum < 0 ? (uint64_t)0 - (uint64_t)sum : (uint64_t)sum) >= (uint64_t)${taps + 2} << ${k.margin}) {
                    v = tilewright_whole_biased(sum, exponent, ${"b + c" if k.bias else "NULL"});
                } else {
                    window.column = base + ${times("ow", w.stride)};
                    v = tilewright_whole_settled(sum, exponent, ordinary, &shape, &window, &weights, c, ${"b + c" if k.bias else "NULL"});
                }
                *to = ${k.clamp};
                to = &to[${k.channels}];
            }
        }
    }
}
