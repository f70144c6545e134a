<%
h, w = k.h, k.w
row = w.kernel * k.groups.channels
%>\
% for block in k.blocks:
% if w.inner_last > w.inner_first:
${k.attribute} ${f.storage} void ${f.name}_block${block.width}(const float *${f.restrict}x, int base, const float *${f.restrict}w, ${f"const float *{f.restrict}b, " if k.bias else ""}float *${f.restrict}y, int kh_first, int kh_last)
{
    enum { PIXELS = ${k.pixels[loop.index]} };
    float acc[PIXELS][${block.width}];
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            acc[p][o] = ${"b[o]" if k.bias else "0.0f"};
        }
    }
    for (int kh = kh_first; kh < kh_last; kh++) {
        const float *${f.restrict}xr = ${added("x", "base", times("kh", h.dilation * h.x_stride))};
        const float *${f.restrict}wr = w + ${times("kh", row * block.width)};
% if k.contiguous:
        for (int i = 0; i < ${row}; i++) {
            for (int p = 0; p < PIXELS; p++) {
                for (int o = 0; o < ${block.width}; o++) {
                    acc[p][o] += xr[${times("p", w.stride * w.x_stride)} + i] * wr[${times("i", block.width)} + o];
                }
            }
        }
% else:
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            for (int i = 0; i < ${k.groups.channels}; i++) {
                for (int p = 0; p < PIXELS; p++) {
                    for (int o = 0; o < ${block.width}; o++) {
                        acc[p][o] += xr[${times("p", w.stride * w.x_stride)} + ${times("kw", w.dilation * w.x_stride)} + ${times("i", k.x_channel)}] * wr[${times("(" + times("kw", k.groups.channels) + " + i)", block.width)} + o];
                    }
                }
            }
        }
% endif
    }
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            const float v = acc[p][o];
            y[${times("p", k.groups.all_results)} + o] = ${k.clamp};
        }
    }
}

% endif
% if w.inner_first > 0 or w.inner_last < w.out:
${k.attribute} ${f.storage} void ${f.name}_pixel${block.width}(const float *${f.restrict}x, int base, const float *${f.restrict}w, ${f"const float *{f.restrict}b, " if k.bias else ""}float *${f.restrict}y, int kh_first, int kh_last, int kw_first, int kw_last)
{
    float acc[${block.width}];
    for (int o = 0; o < ${block.width}; o++) {
        acc[o] = ${"b[o]" if k.bias else "0.0f"};
    }
    for (int kh = kh_first; kh < kh_last; kh++) {
% if k.contiguous:
        const float *${f.restrict}xr = ${added("x", "base", times("kh", h.dilation * h.x_stride))};
        const float *${f.restrict}wr = w + ${times("kh", row * block.width)};
        for (int i = ${times("kw_first", k.groups.channels)}; i < ${times("kw_last", k.groups.channels)}; i++) {
            for (int o = 0; o < ${block.width}; o++) {
                acc[o] += xr[i] * wr[${times("i", block.width)} + o];
            }
        }
% else:
        for (int kw = kw_first; kw < kw_last; kw++) {
            const float *${f.restrict}xr = ${added("x", "base", times("kh", h.dilation * h.x_stride), times("kw", w.dilation * w.x_stride))};
            const float *${f.restrict}wr = w + ${times("(" + times("kh", w.kernel) + " + kw)", k.groups.channels * block.width)};
            for (int i = 0; i < ${k.groups.channels}; i++) {
                for (int o = 0; o < ${block.width}; o++) {
                    acc[o] += xr[${times("i", k.x_channel)}] * wr[${times("i", block.width)} + o];
                }
            }
        }
% endif
    }
    for (int o = 0; o < ${block.width}; o++) {
        const float v = acc[o];
        y[o] = ${k.clamp};
    }
}

% endif
% endfor
${k.attribute} ${f.storage} void ${f.name}(${f.parameters})
{
    for (int g = 0; g < ${k.groups.count}; g++) {
        for (int oh = 0; oh < ${h.out}; oh++) {
            const int top = ${plus(times("oh", h.stride), -h.pad)};
            int kh_first = 0;
            int kh_last = ${h.kernel};
            while (kh_first < kh_last && top + ${times("kh_first", h.dilation)} < 0) {
                kh_first++;
            }
            while (kh_last > kh_first && top + ${times("(kh_last - 1)", h.dilation)} >= ${h.size}) {
                kh_last--;
            }
            const int row = ${added(times("g", k.x_group), times("top", h.x_stride))};
            float *const yr = y + ${times("oh", w.out * k.groups.all_results)} + ${times("g", k.groups.results)};
% for block in k.blocks:
<%
run = plus(times("n", block.width), block.first)
bias = f'b + {times("g", k.groups.results)} + {run}, ' if k.bias else ""
weights = f'w + {times("g", k.groups.weights)} + {plus(times("n", block.width * h.kernel * row), block.weights)}'
%>\
            for (int n = 0; n < ${block.count}; n++) {
                float *const yb = yr + ${run};
% if w.inner_last > w.inner_first:
                enum { PIXELS = ${k.pixels[loop.index]} };
                for (int ow = ${w.inner_first}; ow < ${w.inner_last}; ow += PIXELS) {
                    const int at = ow < ${w.inner_last} - PIXELS ? ow : ${w.inner_last} - PIXELS;
                    ${f.name}_block${block.width}(x, ${added("row", times(grouped(plus(times("at", w.stride), -w.pad)), w.x_stride))}, ${weights}, ${bias}yb + ${times("at", k.groups.all_results)}, kh_first, kh_last);
                }
% endif
% for first, last in ((0, w.inner_first), (w.inner_last, w.out)):
% if last > first:
                for (int ow = ${first}; ow < ${last}; ow++) {
                    const int left = ${plus(times("ow", w.stride), -w.pad)};
                    int kw_first = 0;
                    int kw_last = ${w.kernel};
                    while (kw_first < kw_last && left + ${times("kw_first", w.dilation)} < 0) {
                        kw_first++;
                    }
                    while (kw_last > kw_first && left + ${times("(kw_last - 1)", w.dilation)} >= ${w.size}) {
                        kw_last--;
                    }
                    ${f.name}_pixel${block.width}(x, ${added("row", times("left", w.x_stride))}, ${weights}, ${bias}yb + ${times("ow", k.groups.all_results)}, kh_first, kh_last, kw_first, kw_last);
                }
% endif
% endfor
            }
% endfor
        }
    }
}
