<%
h, w = k.h, k.w
x = k.x_name
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
missing = f"(uint32_t)({k.zero_point})"
%>\
<%def name="word(to, i, source)">\
<%
def value(n):
    if n >= k.inputs:
        return "0u"
    row, column, offset = k.taps[n]
    if not source:
        return f"(row{row} && column{column} ? (uint32_t){x}[{plus('from', offset)}] : {missing})"
    return f"(uint32_t){source}[{offset}]"
%>\
            ${to} = tilewright_bottoms(${value(2 * i)}, ${value(2 * i + 1)});
</%def>\
TILEWRIGHT_FEW(${f.name}, ${k.words}, ${k.saturates}, ${k.shift}, ${k.channels}, ${k.at_once})

TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    for (int p = 0; p < ${h.out * w.out}; p += 2) {
        const int at = p < ${h.out * w.out - 2} ? p : ${h.out * w.out - 2};
        uint32_t words[${2 * k.words}];
% if k.direct:
        {
            const ${k.x_type} *const first = ${x} + ${times("at", k.inputs)};
            const ${k.x_type} *const second = first + ${k.inputs};
% for i in range(k.words):
${word(f"words[{i}]", i, "first")}\
${word(f"words[{k.words + i}]", i, "second")}\
% endfor
        }
% else:
        for (int j = 0; j < 2; j++) {
            uint32_t *const to = words + ${times("j", k.words)};
% if h.out > 1:
            const int oh = (at + j) / ${w.out};
            const int ow = at + j - oh * ${w.out};
            const int top = ${plus(times("oh", h.stride), -h.pad)};
            const int left = ${plus(times("ow", w.stride), -w.pad)};
% else:
            const int top = ${-h.pad};
            const int left = ${plus(times("(at + j)", w.stride), -w.pad)};
% endif
% if k.padded:
            const int from = ${times("top", h.x_stride)} + ${times("left", w.x_stride)};
% for n in range(h.kernel):
            const bool row${n} = ${plus("top", n * h.dilation)} >= 0 && ${plus("top", n * h.dilation)} < ${h.size};
% endfor
% for n in range(w.kernel):
            const bool column${n} = ${plus("left", n * w.dilation)} >= 0 && ${plus("left", n * w.dilation)} < ${w.size};
% endfor
% for i in range(k.words):
${word(f"to[{i}]", i, "")}\
% endfor
% else:
            const ${k.x_type} *const first = ${x} + ${times("top", h.x_stride)} + ${times("left", w.x_stride)};
% for i in range(k.words):
${word(f"to[{i}]", i, "first")}\
% endfor
% endif
        }
% endif
        tilewright_few_${f.name}(words, stream, ${y} + ${times("at", k.channels)}, ${k.addend});
    }
}
