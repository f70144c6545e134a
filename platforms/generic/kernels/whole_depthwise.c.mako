<%
h, w, line = k.h, k.w, k.line
taps = line.length
products = [(kh, kw) for kh in range(h.kernel) for kw in range(w.kernel)]
%>\
${f.storage} void ${f.name}(${f.parameters})
{
    int32_t *const weights = (int32_t *)(void *)scratch, *const turned = weights + ${taps}, *const ring = turned + ${taps};
    const tilewright_whole_axis down = {${h.kernel}, ${h.size}, ${h.dilation}, ${h.x_stride}}, across = {${w.kernel}, ${w.size}, ${w.dilation}, ${w.x_stride}};
    for (int i = 0; i < ${k.span * k.reach}; i++) {
        ring[i] = 0; /* columns outside of the image stay so */
    }
    for (int c = 0; c < ${k.channels}; c++) {
        const float *const from = w + ${times("c", taps)}, *const image = x + ${times("c", k.x_channel)};
        const tilewright_whole_line of_weights = tilewright_whole_line_of(weights, from, ${taps}, 1, ${line.bits}, ${line.share});
        const uint64_t enough = (uint64_t)(of_weights.sizes + ${(taps << line.bits - line.share) + 2 * taps}u) << ${line.share + 20};
        uint32_t tops[${k.span}] = {0};
        int next = 0;
        for (int oh = 0; oh < ${h.out}; oh++) {
            const int top = ${plus(times("oh", h.stride), -h.pad)};
            const int32_t *rows[${h.kernel}];
            uint32_t largest = 0;
            next = next > top ? next : top;
            next = next > 0 ? next : 0;
            for (; next < top + ${k.span} && next < ${h.size}; next++) {
                int32_t *const to = ring + ${times(f"(next % {k.span})", k.reach)};
                tops[next % ${k.span}] = tilewright_whole_line_of(to + ${w.pad}, image + ${times("next", h.x_stride)}, ${k.inside}, ${w.x_stride}, ${line.bits}, ${line.share}).top;
            }
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                const int row = top + ${times("kh", h.dilation)};
                rows[kh] = row >= 0 && row < ${h.size} ? ring + ${times(f"(row % {k.span})", k.reach)} : NULL;
                if (rows[kh] != NULL && tops[row % ${k.span}] > largest) {
                    largest = tops[row % ${k.span}];
                }
            }
            /* rows of smaller numbers take smaller weights */
            for (int tap = 0; tap < ${taps}; tap++) {
                const int kh = tap / ${w.kernel}, row = top + ${times("kh", h.dilation)};
                const uint32_t less = rows[kh] != NULL ? largest - tops[row % ${k.span}] : 31u;
                const uint32_t size = weights[tap] < 0 ? 0u - (uint32_t)weights[tap] : (uint32_t)weights[tap];
                const uint32_t left = less < 31u ? size >> less : 0u;
                turned[tap] = weights[tap] < 0 ? -(int32_t)left : (int32_t)left;
            }
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                rows[kh] = rows[kh] != NULL ? rows[kh] : ring;
            }
            const int ordinary = tilewright_whole_ordinary(largest, of_weights.top, ${line.bits});
            const int exponent = (int)largest + (int)of_weights.top - ${252 + 2 * line.bits};
            float *to = y + ${times("oh", w.out * k.channels)} + c;
            for (int ow = 0; ow < ${w.out}; ow++) {
                const int column = ${times("ow", w.stride)};
                int64_t total = 0;
                float v;
% if k.unrolled:
% for kh, kw in products:
                total += (int64_t)rows[${kh}][${plus("column", kw * w.dilation)}] * turned[${kh * w.kernel + kw}];
% endfor
% else:
                for (int kh = 0; kh < ${h.kernel}; kh++) {
                    const int32_t *const numbers = rows[kh] + column, *const part = turned + ${times("kh", w.kernel)};
% if k.unrolled_row:
% for kw in range(w.kernel):
                    total += (int64_t)numbers[${kw * w.dilation}] * part[${kw}];
% endfor
% else:
                    for (int kw = 0; kw < ${w.kernel}; kw++) {
                        total += (int64_t)numbers[${times("kw", w.dilation)}] * part[kw];
                    }
% endif
                }
% endif
                const uint64_t size = total < 0 ? (uint64_t)0 - (uint64_t)total : (uint64_t)total;
                if (ordinary != 0 && (size >= enough || tilewright_whole_window_reaches(rows, turned, column, down, across, of_weights.sizes + ${2 * taps}u, ${line.share}, enough) != 0)) {
                    v = tilewright_whole_biased(total, exponent, ${"b + c" if k.bias else "NULL"});
                } else {
                    v = tilewright_whole_window_exact(image, from, top, ${plus("column", -w.pad)}, down, across, largest != 255u && of_weights.top != 255u ? 1 : 0)${" + b[c]" if k.bias else ""};
                }
                *to = ${k.clamp};
                to += ${k.channels};
            }
        }
    }
}
