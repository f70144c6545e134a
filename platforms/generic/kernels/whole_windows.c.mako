<% h, w, groups = k.h, k.w, k.groups %>\
${f.storage} void ${f.name}(${f.parameters})
{
    static const tilewright_whole_shape shape = {${h.kernel}, ${w.kernel}, ${h.dilation}, ${w.dilation}, ${h.size}, ${w.size}, ${h.x_stride}, ${w.x_stride}, ${groups.channels}, ${k.x_channel}, ${groups.weights // groups.results}, ${k.margin}, 30};
    const tilewright_whole_weights weights = {w, tops, odd_at, odd};
    for (int g = 0; g < ${groups.count}; g++) {
        for (int at = 0; at < ${h.out * w.out}; at++) {
            const int row = ${plus(times("(at / " + str(w.out) + ")", h.stride), -h.pad)}, column = ${plus(times("(at % " + str(w.out) + ")", w.stride), -w.pad)};
            const tilewright_whole_window window = tilewright_whole_window_at(&shape, ${added(k.x, times("g", k.x_group))}, row, column);
            float *const to = y + ${times("at", groups.all_results)} + ${times("g", groups.results)};
            for (int n = 0; n < ${groups.results}; n += ${k.block}) {
                const int many = n < ${groups.results - k.block} ? ${k.block} : ${groups.results} - n;
                tilewright_whole_results(to + n, many, &shape, &window, &weights, ${times("g", groups.results)} + n, ${f"{k.bias} + {times('g', groups.results)} + n" if k.bias != "NULL" else "NULL"});
% if k.clamp != "v":
                for (int i = n; i < n + many; i++) {
                    const float v = to[i];
                    to[i] = ${k.clamp};
                }
% endif
            }
        }
    }
}
