<%
h, w, groups, line = k.h, k.w, k.groups, k.line
finite = "of_windows[p].top != 255u && of_weights.top != 255u"
%>\
/* The window at a row and a column, zeros where it has left the image. */
${f.storage} void ${f.name}_window(const float *x, int top, int left, int32_t *window)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int row = top + ${times("kh", h.dilation)};
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
            if (row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size}) {
                const float *const from = x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)};
                for (int c = 0; c < ${groups.channels}; c++) {
                    *window++ = tilewright_whole_load(from + ${times("c", k.x_channel)});
                }
            } else {
                for (int c = 0; c < ${groups.channels}; c++) {
                    *window++ = 0;
                }
            }
        }
    }
}

${f.storage} tilewright_whole_line ${f.name}_numbers(int32_t *window)
{
    return tilewright_whole_line_of(window, (const float *)(const void *)window, ${line.length}, 1, ${line.bits}, ${line.share});
}

${f.storage} void ${f.name}(${f.parameters})
{
    int32_t *const weights = (int32_t *)(void *)scratch, *const windows = weights + ${line.length};
    tilewright_whole_line of_windows[${line.at_once}];
    for (int g = 0; g < ${groups.count}; g++) {
        const float *const xg = x + ${times("g", k.x_group)};
        for (int oh = 0; oh < ${h.out}; oh++) {
            const int top = ${plus(times("oh", h.stride), -h.pad)};
            for (int first = 0; first < ${w.out}; first += ${line.at_once}) {
                const int many = first < ${w.out - line.at_once} ? ${line.at_once} : ${w.out} - first;
                float *const to = y + ${times("(" + times("oh", w.out) + " + first)", groups.all_results)} + ${times("g", groups.results)};
                for (int p = 0; p < many; p++) {
                    ${f.name}_window(xg, top, ${plus(times("(first + p)", w.stride), -w.pad)}, windows + ${times("p", line.length)});
                    of_windows[p] = ${f.name}_numbers(windows + ${times("p", line.length)});
                }
                for (int n = 0; n < ${groups.results}; n++) {
                    const float *const from = w + ${times("(" + times("g", groups.results) + " + n)", line.length)};
                    const tilewright_whole_line of_weights = tilewright_whole_line_of(weights, from, ${line.length}, 1, ${line.bits}, ${line.share});
                    for (int p = 0; p < many; p++) {
                        int32_t *const window = windows + ${times("p", line.length)};
                        float v;
                        if (!tilewright_whole_product(&v, window, of_windows[p], weights, of_weights, ${line.length}, ${line.bits}, ${line.share}, ${"b + " + times("g", groups.results) + " + n" if k.bias else "NULL"})) {
                            ${f.name}_window(xg, top, ${plus(times("(first + p)", w.stride), -w.pad)}, window);
                            v = tilewright_whole_exact(0.0f, (const float *)(const void *)window, 1, from, 1, ${line.length}, ${finite});
                            (void)${f.name}_numbers(window);
% if k.bias:
                            v += b[${times("g", groups.results)} + n];
% endif
                        }
                        to[${times("p", groups.all_results)} + n] = ${k.clamp};
                    }
                }
            }
        }
    }
}
