<%!
def indented(text):
    return "".join("    " + line if line.strip() else line for line in text.splitlines(True))
def dedented(text):
    return "".join(line.removeprefix("    ") for line in text.splitlines(True))
%>\
<%
p, q = k.p, k.q
plane = k.columns * k.column_words
per_unit = p.stride if p.stride == 2 else 2
results = 1 if p.stride == 2 else 2
single = k.at_once == k.units
zeros = (k.zero_point & 0xFFFF) * 0x10001 if k.halves else (k.zero_point & 0xFF) * 0x01010101
wide_zero = (k.zero_point & 0xFFFF) * 0x10001 ^ k.flip
element, code = "int16_t" if k.halves else "int8_t", f"int{k.y_bits}_t"
x = "x" if k.x_type == element else f"(const {element} *)x"
y = "y" if k.y_type == code else f"({code} *)y"
group = p.dilation
first_full = -(-p.pad // (2 * group)) * group
last_full = (p.size + p.pad) // (2 * group) * group
band_word = "2 * (band + g)" + (f" - g % {group}" if group > 1 else "")
q_first = q.pad
q_last = min(k.columns, q.size + q.pad)
%>\
<%def name="unit(outputs, at, to)">
<% seen = set() %>\
% for kq in range(q.kernel):
% for word, taps in enumerate(k.taps):
% if any(tap.result < outputs for tap in taps):
<% column = at + kq * q.dilation * k.column_words + word * group %>\
                    v = from[${column}];
% for tap in taps:
% if tap.result < outputs:
                    sum${tap.result} = tilewright_${tap.instruction}(v, w${kq * k.line_words + tap.weight}, ${"start" if tap.result not in seen else f"sum{tap.result}"});
<% seen.add(tap.result) %>\
% endif
% endfor
% endif
% endfor
% endfor
% for r in range(outputs):
% if k.own or k.limited:
% if k.two_signs:
                    sum${r} = tilewright_twice(sum${r}, multiplier, shift, addend);
% else:
                    sum${r} = tilewright_shifted(${k.scale}(sum${r}, multiplier, addend), shift);
% endif
                    to[${(to * results - to % group + r * group) * k.y_p}] = (${code})tilewright_limit(${"TILEWRIGHT_LIMITED" if k.limited else "0"}, sum${r}, codes);
% else:
                    to[${(to * results - to % group + r * group) * k.y_p}] = (int8_t)TILEWRIGHT_SATURATE${k.saturates}(tilewright_scale(sum${r}, multiplier, addend), ${k.shift});
% endif
% endfor
</%def>\
<%def name="two(part, first, second, to)">\
% if k.halves:
tilewright_two(${first}${f" ^ {k.flip}u" if k.flip else ""}, ${second}${f" ^ {k.flip}u" if k.flip else ""}, ${to}, ${plane});\
% else:
tilewright_two(tilewright_${part}(${first}), tilewright_${part}(${second}), ${to}, ${plane});\
% endif
</%def>\
<%def name="edge(part)">
                        const int at = ${plus(band_word, -p.pad)};
                        const uint32_t first = at >= 0 && at < ${p.size} ? tilewright_load(s + ${times("at", p.x_stride)}) : ${zeros}u;
                        const uint32_t second = at + ${group} >= 0 && at + ${group} < ${p.size} ? tilewright_load(s + ${times(f"(at + {group})", p.x_stride)}) : ${zeros}u;
                        ${two(part, "first", "second", "to + g")}
</%def>\
<%def name="fill(part)">
                for (int column = ${q_first}; column < ${q_last}; column++) {
                    const ${element} *const s = ${x} + ${times(f"({plus('column', -q.pad)})", q.x_stride)} + group${" + 2" if k.halves and part == "odd" else ""};
                    uint32_t *const to = planes + ${times("column", k.column_words)};
                    int g = 0;
                    for (; g < first_full; g++) {
${edge(part)}\
                    }
                    const ${element} *r = s + ${times(f"({plus('2 * (band + g)', -p.pad)})", p.x_stride)};
                    for (; g < last_full; ${"g++" if group == 1 else f"g += {group}"}) {
% for n in range(group):
                        ${two(part, f"tilewright_load({plus('r', n * p.x_stride)})", f"tilewright_load(r + {(n + group) * p.x_stride})", plus("to + g", n))}
% endfor
                        r = &r[${2 * group * p.x_stride}];
                    }
                    for (; g < ${k.column_words}; g++) {
${edge(part)}\
                    }
                }
</%def>\
<%def name="one_fill()">
                for (int column = ${q_first}; column < ${q_last}; column++) {
                    const ${k.x_type} *const s = x + ${times(f"({plus('column', -q.pad)})", q.x_stride)};
                    uint32_t *const to = planes + ${times("column", k.column_words)};
                    for (int g = 0; g < ${k.column_words}; g++) {
                        const int at = ${plus(band_word, -p.pad)};
                        const int first = at >= 0 && at < ${p.size} ? s[${times("at", p.x_stride)}] : ${k.zero_point};
                        const int second = at + ${group} >= 0 && at + ${group} < ${p.size} ? s[${times(f"(at + {group})", p.x_stride)}] : ${k.zero_point};
                        to[g] = ${f"{k.flip}u ^ " if k.flip else ""}(((uint32_t)first & 0xffffu) | (uint32_t)second << 16);
                    }
                }
</%def>\
<%def name="channel(first)">\
                const uint32_t *const t = table + ${times("channel", k.table_words)};
% for name, value in k.weights.unpacked:
                const uint32_t ${name} = ${value};
% endfor
                const int32_t start = (int32_t)t[${k.weights.words}];
                const int32_t multiplier = (int32_t)t[${k.weights.words + 1}];
% if k.own:
                const int32_t shift = (int32_t)t[${k.table_words - 1}];
                const int32_t addend = ${k.addend};
% else:
                const int32_t addend = codes[0];
% if k.limited:
                const int32_t shift = codes[1];
% endif
% endif
                const uint32_t *from = ${first};
                ${code} *out = ${y} + ${times("band", k.y_p * results)} + channel;
                for (int o = 0; o < ${q.out}; o++) {
                    ${code} *to = out;
                    uint32_t v;
                    int32_t sum0;
% if results == 2 and (k.at_once > 0 or 2 in k.rest):
                    int32_t sum1;
% endif
% if k.at_once > 0:
                    const uint32_t *const end = from + ${k.at_once};
                    while (from != end) {
% for u in range(k.unroll):
${unit(results, u, u)}\
% endfor
                        from += ${k.unroll};
                        to = &to[${k.unroll * k.y_p * results}];
                    }
% endif
% if k.rest:
% if not single:
                    if (band == ${k.units - k.at_once})
% endif
                    {
% for place, count in enumerate(k.rest):
${unit(count, place, place)}\
% endfor
                    }
% endif
                    from += ${q.stride * k.column_words - k.at_once};
                    out = &out[${k.y_q}];
                }
</%def>\
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    uint32_t *const planes = scratch;
% if q_first > 0 or q_last < k.columns:
    for (int i = 0; i < ${(1 if k.channels == 1 else 2) * plane}; i++) {
        planes[i] = ${wide_zero}u;
    }
% endif
% if not single:
    for (int b = 0; b < ${k.units}; b += ${k.at_once}) {
        const int band = b < ${k.units - k.at_once} ? b : ${k.units - k.at_once};
% else:
    {
        const int band = 0;
% endif
% if k.channels == 1:
${dedented(capture(one_fill))}\
        for (int channel = 0; channel < ${k.multiplier}; channel++) {
${dedented(capture(channel, "planes"))}\
        }
% else:
        for (int c = 0; c < ${k.channels}; c += 4) {
            const int group = c < ${k.channels - 4} ? c : ${k.channels - 4};
% if single:
            const int first_full = ${min(first_full, k.column_words)};
            const int last_full = ${max(min(last_full, k.column_words), min(first_full, k.column_words))};
% else:
            const int first_full = ${f"band > {first_full} ? 0 : {first_full} - band" if first_full else "0"};
            const int last_full = band + ${k.column_words} < ${last_full} ? ${k.column_words} : ${last_full} - band;
% endif
            for (int i = 0; i < 4; i++) {
                if (i == 0) {
${fill("even" + ("_unsigned" if k.unsigned else ""))}\
                }
                if (i == 2) {
${fill("odd" + ("_unsigned" if k.unsigned else ""))}\
                }
<% plane_of = f"planes + {times('(i & 1)', plane)}" %>\
% if k.multiplier == 1:
                const int channel = group + ${"i" if k.halves else "(i & 1) * 2 + i / 2"};
% if k.channels % 4:
                if (channel < c) {
                    continue; /* its result may lie in the place of its inputs already */
                }
% endif
${channel(plane_of)}\
% else:
                const int from_channel = group + ${"i" if k.halves else "(i & 1) * 2 + i / 2"};
                for (int channel = from_channel * ${k.multiplier}; channel < (from_channel + 1) * ${k.multiplier}; channel++) {
${indented(capture(channel, plane_of))}\
                }
% endif
            }
        }
% endif
    }
}
