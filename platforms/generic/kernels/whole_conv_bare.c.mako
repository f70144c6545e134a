<%
h, w, groups, line = k.h, k.w, k.groups, k.line
%>\
${f.storage} void ${f.name}(${f.parameters})
{
    for (int at = 0; at < ${groups.count * h.out * w.out}; at++) {
        const int pixel = at % ${h.out * w.out}, g = at / ${h.out * w.out};
        const int top_row = ${plus(times("(pixel / " + str(w.out) + ")", h.stride), -h.pad)}, left = ${plus(times("(pixel % " + str(w.out) + ")", w.stride), -w.pad)};
        const float *const xg = x + ${times("g", k.x_group)};
        float *const to = y + ${times("pixel", groups.all_results)} + ${times("g", groups.results)};
        uint32_t top = 0;
        for (int tap = 0; tap < ${h.kernel * w.kernel}; tap++) {
            const int row = top_row + ${times(f"(tap / {w.kernel})", h.dilation)}, column = left + ${times(f"(tap % {w.kernel})", w.dilation)};
            if (row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size}) {
                top = tilewright_whole_top(top, xg + ${times("row", h.x_stride)} + ${times("column", w.x_stride)}, ${groups.channels}, ${k.x_channel});
            }
        }
        for (int n = 0; n < ${groups.results}; n++) {
            const float *const from = w + ${times("(" + times("g", groups.results) + " + n)", line.length)};
            const uint32_t own = tops[${times("g", groups.results)} + n];
            tilewright_whole_total total = {0, 0, ${4 * line.length}u};
            float v = 0.0f;
            int known = tilewright_whole_ordinary(top, own, ${line.bits});
            for (int pass = 0; pass < 2; pass++) { /* whole numbers, then floats if need be */
                for (int tap = 0; tap < ${h.kernel * w.kernel}; tap++) {
                    const int row = top_row + ${times(f"(tap / {w.kernel})", h.dilation)}, column = left + ${times(f"(tap % {w.kernel})", w.dilation)};
                    if (row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size}) {
                        const float *const place = xg + ${times("row", h.x_stride)} + ${times("column", w.x_stride)};
                        const float *const weights = from + ${times("tap", groups.channels)};
                        if (known) {
                            tilewright_whole_add(&total, place, ${k.x_channel}, top, weights, 1, own, ${groups.channels}, ${line.bits}, ${line.share});
                        } else {
                            v = tilewright_whole_exact(v, place, ${k.x_channel}, weights, 1, ${groups.channels}, top != 255u && own != 255u);
                        }
                    }
                }
                if (!known) {
% if k.bias:
                    v += b[${times("g", groups.results)} + n];
% endif
                    break;
                }
                if (tilewright_whole_known(&v, &total, top, own, ${line.bits}, ${line.share}, ${"b + " + times("g", groups.results) + " + n" if k.bias else "NULL"})) {
                    break;
                }
                known = 0;
                v = 0.0f;
            }
            to[n] = ${k.clamp};
        }
    }
}
