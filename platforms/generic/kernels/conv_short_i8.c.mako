<%
v = k.conv
h, w, q = v.h, v.w, v.requantise
row = w.kernel * v.groups.channels
rows_padded = h.inner_first > 0 or h.inner_last < h.out
pad = f"const {v.x_type} *{f.restrict}pad, "
%>\
% for block in v.blocks:
${v.attribute} ${f.storage} void ${f.name}_codes${block.width}(int32_t *${f.restrict}acc, ${q.parameters}${v.y_type} *${f.restrict}y)
{
    for (int o = 0; o < ${block.width}; o++) {
        int32_t code = ${q.code("acc[o]", "o")};
        code = code < ${q.low} ? ${q.low} : code;
        acc[o] = code > ${q.high} ? ${q.high} : code;
    }
    for (int o = 0; o < ${block.width}; o++) {
        y[o] = (${v.y_type})acc[o];
    }
}

% if w.inner_last > w.inner_first:
${v.attribute} ${f.storage} void ${f.name}_block${block.width}(const ${v.x_type} *${f.restrict}x, ${pad if rows_padded else ""}int top, int left, const int32_t *${f.restrict}w, const int32_t *${f.restrict}b, int32_t *${f.restrict}sums)
{
    enum { PIXELS = ${k.pixels} };
    int32_t acc[PIXELS][${block.width}];
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            acc[p][o] = b[o];
        }
    }
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int at = top + ${times("kh", h.dilation)};
% if rows_padded:
        const ${v.x_type} *${f.restrict}xr = at >= 0 && at < ${h.size} ? x + ${times("at", h.x_stride)} + left : pad;
% else:
        const ${v.x_type} *${f.restrict}xr = x + ${times("at", h.x_stride)} + left;
% endif
        const int32_t *${f.restrict}wr = w + ${times("kh", row * block.width)};
% if v.contiguous:
        for (int i = 0; i < ${row}; i++) {
            for (int p = 0; p < PIXELS; p++) {
                for (int o = 0; o < ${block.width}; o++) {
                    acc[p][o] += xr[${times("p", w.stride * w.x_stride)} + i] * wr[${times("i", block.width)} + o];
                }
            }
        }
% else:
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            for (int i = 0; i < ${v.groups.channels}; i++) {
                for (int p = 0; p < PIXELS; p++) {
                    for (int o = 0; o < ${block.width}; o++) {
                        acc[p][o] += xr[${times("p", w.stride * w.x_stride)} + ${times("kw", w.dilation * w.x_stride)} + i] * wr[${times("(" + times("kw", v.groups.channels) + " + i)", block.width)} + o];
                    }
                }
            }
        }
% endif
    }
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            sums[${times("p", block.width)} + o] = acc[p][o];
        }
    }
}

% endif
% if w.inner_first > 0 or w.inner_last < w.out:
${v.attribute} ${f.storage} void ${f.name}_pixel${block.width}(const ${v.x_type} *${f.restrict}x, ${pad}int top, int left, int group, const int32_t *${f.restrict}w, const int32_t *${f.restrict}b, int32_t *${f.restrict}sums)
{
    int32_t acc[${block.width}];
    for (int o = 0; o < ${block.width}; o++) {
        acc[o] = b[o];
    }
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int row = top + ${times("kh", h.dilation)};
            const int column = left + ${times("kw", w.dilation)};
            const bool inside = row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size};
            const ${v.x_type} *${f.restrict}xr = inside ? x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)} + group : pad;
            const int32_t *${f.restrict}wr = w + ${times("(" + times("kh", w.kernel) + " + kw)", v.groups.channels * block.width)};
            for (int i = 0; i < ${v.groups.channels}; i++) {
                for (int o = 0; o < ${block.width}; o++) {
                    acc[o] += xr[i] * wr[${times("i", block.width)} + o];
                }
            }
        }
    }
    for (int o = 0; o < ${block.width}; o++) {
        sums[o] = acc[o];
    }
}

% endif
% endfor
<%def name="one(block, pixels, name, where, at)">\
                    int32_t sums[${block.width if pixels == "1" else times(pixels, block.width)}];
                    ${f.name}_${name}${block.width}(${where}, w + ${times("g", v.groups.results * v.depth)} + ${plus(times("n", block.width * v.depth), block.weights)}, b + channel, sums);
                    for (int p = 0; p < ${pixels}; p++) {
                        ${f.name}_codes${block.width}(sums + ${times("p", block.width)}, ${q.arguments("channel")}yr + (${at} + p) * ${v.groups.all_results} + channel);
                    }
</%def>\
${f.storage} void ${f.name}(${f.parameters})
{
% if w.inner_last > w.inner_first:
    enum { PIXELS = ${k.pixels} };
% endif
% if v.pointwise:
    const int g = 0;
    ${v.y_type} *const yr = y;
    for (int ow = 0; ow < ${w.out}; ow += PIXELS) {
        const int at = ow < ${w.out} - PIXELS ? ow : ${w.out} - PIXELS;
% for block in v.blocks:
        for (int n = 0; n < ${block.count}; n++) {
            const int channel = ${plus(times("n", block.width), block.first)};
${one(block, "PIXELS", "block", f"x, 0, at * {w.stride * w.x_stride}", "at")}\
        }
% endfor
    }
% else:
    for (int g = 0; g < ${v.groups.count}; g++) {
        for (int oh = 0; oh < ${h.out}; oh++) {
            const int top = ${plus(times("oh", h.stride), -h.pad)};
            ${v.y_type} *const yr = y + ${times("oh", w.out * v.groups.all_results)};
% for block in v.blocks:
            for (int n = 0; n < ${block.count}; n++) {
                const int channel = ${times("g", v.groups.results)} + ${plus(times("n", block.width), block.first)};
% if w.inner_last > w.inner_first:
                for (int ow = ${w.inner_first}; ow < ${w.inner_last}; ow += PIXELS) {
                    const int at = ow < ${w.inner_last} - PIXELS ? ow : ${w.inner_last} - PIXELS;
${one(block, "PIXELS", "block", f"x, {'pad, ' if rows_padded else ''}top, {times(grouped(plus(times('at', w.stride), -w.pad)), w.x_stride)} + {times('g', v.groups.channels)}", "at")}\
                }
% endif
% for first, last in ((0, w.inner_first), (w.inner_last, w.out)):
% if last > first:
                for (int ow = ${first}; ow < ${last}; ow++) {
${one(block, "1", "pixel", f"x, pad, top, {plus(times('ow', w.stride), -w.pad)}, {times('g', v.groups.channels)}", "ow")}\
                }
% endif
% endfor
            }
% endfor
        }
    }
% endif
}
