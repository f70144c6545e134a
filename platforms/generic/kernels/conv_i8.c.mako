<%
h, w, q = k.h, k.w, k.requantise
row = w.kernel * k.groups.channels
pad = f"const {k.x_type} *{f.restrict}pad, "
rows_padded = h.inner_first > 0 or h.inner_last < h.out
%>\
<%def name="start(pixels, block)">
% for p in range(pixels):
% for o in range(block.width):
    int32_t s${p}_${o} = b[${o}];
% endfor
% endfor
</%def>\
<%def name="store(pixels, block)">
    int32_t acc[${pixels}][${block.width}];
% for p in range(pixels):
% for o in range(block.width):
    acc[${p}][${o}] = s${p}_${o};
% endfor
% endfor
    for (int o = 0; o < ${block.width}; o++) {
% for declaration in q.declarations("o"):
        ${declaration}
% endfor
        for (int p = 0; p < ${pixels}; p++) {
            int32_t code = ${q.code("acc[p][o]", "o", q.held)};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${times("p", k.groups.all_results)} + o] = (${k.y_type})code;
        }
    }
</%def>\
% for block in k.blocks:
% if w.inner_last > w.inner_first:
${k.attribute} ${f.storage} void ${f.name}_block${block.width}(const ${k.x_type} *${f.restrict}x, ${pad if rows_padded else ""}int top, int left, const ${k.w_type} *${f.restrict}w, const int32_t *${f.restrict}b, ${q.parameters}${k.y_type} *${f.restrict}y)
{
${start(k.pixels, block)}\
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int at = top + ${times("kh", h.dilation)};
% if rows_padded:
        const ${k.x_type} *${f.restrict}xr = at >= 0 && at < ${h.size} ? x + ${times("at", h.x_stride)} + left : pad;
% else:
        const ${k.x_type} *${f.restrict}xr = x + ${times("at", h.x_stride)} + left;
% endif
        const ${k.w_type} *${f.restrict}wr = w + ${times("kh", row)};
% if k.contiguous:
        for (int i = 0; i < ${row}; i++) {
% for p in range(k.pixels):
% for o in range(block.width):
            s${p}_${o} += (int32_t)xr[${plus("i", p * w.stride * w.x_stride)}] * wr[${plus("i", o * k.depth)}];
% endfor
% endfor
        }
% else:
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            for (int i = 0; i < ${k.groups.channels}; i++) {
% for p in range(k.pixels):
% for o in range(block.width):
                s${p}_${o} += (int32_t)xr[${plus(times("kw", w.dilation * w.x_stride), p * w.stride * w.x_stride)} + i] * wr[${plus(times("kw", k.groups.channels), o * k.depth)} + i];
% endfor
% endfor
            }
        }
% endif
    }
${store(k.pixels, block)}\
}

% endif
% if w.inner_first > 0 or w.inner_last < w.out:
${k.attribute} ${f.storage} void ${f.name}_pixel${block.width}(const ${k.x_type} *${f.restrict}x, ${pad}int top, int left, int group, const ${k.w_type} *${f.restrict}w, const int32_t *${f.restrict}b, ${q.parameters}${k.y_type} *${f.restrict}y)
{
${start(1, block)}\
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int row = top + ${times("kh", h.dilation)};
            const int column = left + ${times("kw", w.dilation)};
            const bool inside = row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size};
            const ${k.x_type} *${f.restrict}xr = inside ? x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)} + group : pad;
            const ${k.w_type} *${f.restrict}wr = w + ${times("(" + times("kh", w.kernel) + " + kw)", k.groups.channels)};
            for (int i = 0; i < ${k.groups.channels}; i++) {
% for o in range(block.width):
                s0_${o} += (int32_t)xr[i] * wr[${plus("i", o * k.depth)}];
% endfor
            }
        }
    }
${store(1, block)}\
}

% endif
% endfor
${f.storage} void ${f.name}(${f.parameters})
{
% if k.pointwise:
    for (int ow = 0; ow < ${w.out}; ow += ${k.pixels}) {
        const int at = ow < ${w.out - k.pixels} ? ow : ${w.out - k.pixels};
% for block in k.blocks:
        for (int n = 0; n < ${block.count}; n++) {
            const int channel = ${plus(times("n", block.width), block.first)};
            ${f.name}_block${block.width}(x, 0, ${times("at", w.stride * w.x_stride)}, w + ${times("channel", k.depth)}, b + channel, ${q.arguments("channel")}y + ${times("at", k.groups.all_results)} + channel);
        }
% endfor
    }
% else:
    for (int g = 0; g < ${k.groups.count}; g++) {
        for (int oh = 0; oh < ${h.out}; oh++) {
            const int top = ${plus(times("oh", h.stride), -h.pad)};
% for block in k.blocks:
            for (int n = 0; n < ${block.count}; n++) {
                const int channel = ${times("g", k.groups.results)} + ${plus(times("n", block.width), block.first)};
                ${k.y_type} *const yr = y + ${times("oh", w.out * k.groups.all_results)} + channel;
% if w.inner_last > w.inner_first:
                for (int ow = ${w.inner_first}; ow < ${w.inner_last}; ow += ${k.pixels}) {
                    const int at = ow < ${w.inner_last - k.pixels} ? ow : ${w.inner_last - k.pixels};
                    ${f.name}_block${block.width}(x, ${"pad, " if rows_padded else ""}top, ${times(grouped(plus(times("at", w.stride), -w.pad)), w.x_stride)} + ${times("g", k.groups.channels)}, w + ${times("channel", k.depth)}, b + channel, ${q.arguments("channel")}yr + ${times("at", k.groups.all_results)});
                }
% endif
% for first, last in ((0, w.inner_first), (w.inner_last, w.out)):
% if last > first:
                for (int ow = ${first}; ow < ${last}; ow++) {
                    ${f.name}_pixel${block.width}(x, pad, top, ${plus(times("ow", w.stride), -w.pad)}, ${times("g", k.groups.channels)}, w + ${times("channel", k.depth)}, b + channel, ${q.arguments("channel")}yr + ${times("ow", k.groups.all_results)});
                }
% endif
% endfor
            }
% endfor
        }
    }
% endif
}
