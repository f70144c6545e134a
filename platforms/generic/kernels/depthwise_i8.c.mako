<%
h, w, q = k.h, k.w, k.requantise
pad = f"const {k.x_type} *{f.restrict}pad, " if k.padded else ""
%>\
<%def name="kernel(block, border)">
${k.attribute} ${f.storage} void ${f.name}_${"border" if border else "pixel"}${block.width}(const ${k.x_type} *${f.restrict}x, ${pad if border or h.inner_first > 0 or h.inner_last < h.out else ""}int top, int left, int c, const ${k.w_type} *${f.restrict}w, const int32_t *${f.restrict}b, ${q.parameters}${k.y_type} *${f.restrict}y)
{
    int32_t acc[${block.width}];
    for (int o = 0; o < ${block.width}; o++) {
        acc[o] = b[o];
    }
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int row = top + ${times("kh", h.dilation)};
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
% if border:
            const bool inside = row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size};
            const ${k.x_type} *${f.restrict}xr = inside ? x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)} + c : pad;
% elif h.inner_first > 0 or h.inner_last < h.out:
            const ${k.x_type} *${f.restrict}xr = row >= 0 && row < ${h.size} ? x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)} + c : pad;
% else:
            const ${k.x_type} *${f.restrict}xr = x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)} + c;
% endif
            const ${k.w_type} *${f.restrict}wr = w + ${times("(" + times("kh", w.kernel) + " + kw)", k.channels)};
            for (int o = 0; o < ${block.width}; o++) {
                acc[o] += (int32_t)xr[o] * wr[o];
            }
        }
    }
    for (int o = 0; o < ${block.width}; o++) {
        int32_t code = ${q.code("acc[o]", "o")};
        code = code < ${q.low} ? ${q.low} : code;
        code = code > ${q.high} ? ${q.high} : code;
        y[o] = (${k.y_type})code;
    }
}
</%def>\
% for block in k.blocks:
% if w.inner_last > w.inner_first:
${kernel(block, False)}
% endif
% if w.inner_first > 0 or w.inner_last < w.out:
${kernel(block, True)}
% endif
% endfor
${f.storage} void ${f.name}(${f.parameters})
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int top = ${plus(times("oh", h.stride), -h.pad)};
        ${k.y_type} *const yr = y + ${times("oh", w.out * k.channels)};
% for block in k.blocks:
        for (int c = ${block.first}; c < ${block.first + block.count * block.width}; c += ${block.width}) {
% if w.inner_last > w.inner_first:
            for (int ow = ${w.inner_first}; ow < ${w.inner_last}; ow++) {
                ${f.name}_pixel${block.width}(x, ${"pad, " if h.inner_first > 0 or h.inner_last < h.out else ""}top, ${plus(times("ow", w.stride), -w.pad)}, c, w + c, b + c, ${q.arguments("c")}yr + ${times("ow", k.channels)} + c);
            }
% endif
% for first, last in ((0, w.inner_first), (w.inner_last, w.out)):
% if last > first:
            for (int ow = ${first}; ow < ${last}; ow++) {
                ${f.name}_border${block.width}(x, pad, top, ${plus(times("ow", w.stride), -w.pad)}, c, w + c, b + c, ${q.arguments("c")}yr + ${times("ow", k.channels)} + c);
            }
% endif
% endfor
        }
% endfor
    }
}
