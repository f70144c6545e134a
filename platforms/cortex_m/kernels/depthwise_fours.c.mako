<%
p, q = k.p, k.q
element, code = "int16_t" if k.halves else "int8_t", f"int{k.y_bits}_t"
x = "x" if k.x_type == element else f"(const {element} *)x"
y = "y" if k.y_type == code else f"({code} *)y"
zeros = (k.zero_point & 0xFFFF) * 0x10001 if k.halves else (k.zero_point & 0xFF) * 0x01010101
first, last = k.inner
top, bottom = k.inner_rows
whole = (first, last) == (0, p.out) and (top, bottom) == (0, q.out)
some = last > first and bottom > top
part = "_unsigned" if k.unsigned else ""
flip = f" ^ {k.flip}u" if k.flip else ""
header = 4 * k.columns
tap_words = 2
row_step = q.dilation * q.x_stride
pair_step = 2 * p.stride * p.x_stride
%>\
<%def name="weights(from_, at)">\
                        e = ${from_}[${at}];
                        o = ${from_}[${f"{at} + 1" if isinstance(at, str) else at + 1}];
</%def>\
<%def name="multiply(to, new)">\
% if k.halves:
% for half, weight in enumerate("eo"):
% for letter, channel in zip("bt", k.order[half]):
                        ${to}${channel} = tilewright_smla${letter * 2}(${"vh"[half]}, ${weight}, ${new}${channel});
% endfor
% endfor
% else:
% for half, weight in enumerate("eo"):
% for letter, channel in zip("bt", k.order[half]):
                        ${to}${channel} = tilewright_smla${letter * 2}(${"hv"[half]}, ${weight}, ${new}${channel});
% endfor
% endfor
% endif
</%def>\
<%def name="inputs(address)">\
% if k.halves:
                        v = tilewright_load(${address})${flip};
                        h = tilewright_load(${address} + 2)${flip};
% else:
                        v = tilewright_load(${address});
                        h = tilewright_even${part}(v);
                        v = tilewright_odd${part}(v);
% endif
</%def>\
<%def name="codes_of(names, places)">\
% for channel in range(4):
                    {
                        const int32_t multiplier = (int32_t)t[${4 + channel}];
% if k.coding.own:
                        const int32_t addend = (int32_t)t[${8 + channel}];
                        const int32_t shift = (int32_t)t[${12 + channel}];
% elif k.coding.limited:
                        const int32_t shift = codes[1];
% endif
% for name, place in zip(names, places):
<%
total = f"tilewright_twice_of({name}{channel})" if k.coding.twice else f"{name}{channel}"
addend = "addend" if k.coding.own else "codes[0]"
scale = "tilewright_scale_rounded" if k.coding.twice else "tilewright_scale"
limit = "TILEWRIGHT_LIMITED" if k.coding.limited else "0"
scaled = f"tilewright_twice({total}, multiplier, shift, addend)" if k.coding.two_signs else f"tilewright_shifted({scale}({total}, multiplier, {addend}), shift)"
%>\
% if k.coding.own or k.coding.limited:
                        ${place}[${channel}] = (${code})tilewright_limit(${limit}, ${scaled}, codes);
% else:
                        ${place}[${channel}] = (int8_t)TILEWRIGHT_SATURATE${k.coding.saturates}(${scale}(${total}, multiplier, ${addend}), ${k.coding.shift});
% endif
% endfor
                    }
% endfor
</%def>\
<%def name="edge_tap(column, at)">\
<% place = f"x + {times('row', q.x_stride)} + {times('(' + column + ')', p.x_stride)}" %>\
                        h = inside && ${column} >= 0 && ${column} < ${p.size} ? tilewright_load(${place}) : ${zeros}u;
% if k.halves:
                        v = h${flip};
                        h = (inside && ${column} >= 0 && ${column} < ${p.size} ? tilewright_load(${place} + 2) : ${zeros}u)${flip};
% else:
                        v = tilewright_odd${part}(h);
                        h = tilewright_even${part}(h);
% endif
${weights("w", at)}\
${multiply("sum", "sum")}\
</%def>\
% if not (whole and some):
/* One pixel, whose window may leave the operand. */
TILEWRIGHT_ONCE void ${f.name}_edge(const ${element} *x, ${code} *y, const uint32_t *t, const int32_t *codes, int top, int left)
{
% for channel in range(4):
    int32_t sum${channel} = (int32_t)t[${channel}];
% endfor
    const uint32_t *w = t + ${header};
    for (int n = 0; n < ${q.kernel}; n++) {
        const int row = top + ${times("n", q.dilation)};
        const bool inside = row >= 0 && row < ${q.size};
% if k.unrolled:
        uint32_t e;
        uint32_t o;
        uint32_t h;
        uint32_t v;
% for m in range(p.kernel):
${edge_tap(plus("left", m * p.dilation), m * tap_words)}\
% endfor
% else:
        for (int m = 0; m < ${p.kernel}; m++) {
            const int column = left + ${times("m", p.dilation)};
            uint32_t e;
            uint32_t o;
            uint32_t h;
            uint32_t v;
${edge_tap("column", times("m", tap_words))}\
        }
% endif
        w += ${p.kernel * tap_words};
    }
${codes_of(["sum"], ["y"])}\
}

% endif
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${q.out}; row++) {
        const uint32_t *${"given" if k.packed else "t"} = table;
        for (int c = 0; c < ${k.channels}; c += 4) {
% if k.channels % 4:
            const int group = c < ${k.channels - 4} ? c : ${k.channels - 4};
% else:
            const int group = c;
% endif
% if k.packed:
            uint32_t *const halves = scratch;
            (void)memcpy(halves, given, ${4 * header});
% if k.unrolled:
            TILEWRIGHT_UNROLL
% endif
            for (int n = 0; n < ${p.kernel * q.kernel}; n++) {
                const uint32_t word = given[${header} + n];
                const uint32_t even = tilewright_even(word);
                const uint32_t odd = tilewright_odd(word);
                halves[${header} + 2 * n] = even;
                halves[${header + 1} + 2 * n] = odd;
            }
            const uint32_t *t = halves;
% endif
            const ${element} *const s = ${x} + group;
            ${code} *const to = ${y} + ${times("row", k.y_q)} + group;
% if not (whole and some):
<% rows = [f"row >= {top}"] * (top > 0) + [f"row < {bottom}"] * (bottom < q.out) %>\
% if some:
            const bool inside = ${" && ".join(rows) or "true"};
            for (int n = 0; n < (inside ? ${first} : ${p.out}); n++) {
                ${f.name}_edge(s, to + ${times("n", k.y_p)}, t, codes, ${plus(times("row", q.stride), -q.pad)}, ${plus(times("n", p.stride), -p.pad)});
            }
            for (int n = ${last}; inside && n < ${p.out}; n++) {
                ${f.name}_edge(s, to + ${times("n", k.y_p)}, t, codes, ${plus(times("row", q.stride), -q.pad)}, ${plus(times("n", p.stride), -p.pad)});
            }
% else:
            for (int n = 0; n < ${p.out}; n++) {
                ${f.name}_edge(s, to + ${times("n", k.y_p)}, t, codes, ${plus(times("row", q.stride), -q.pad)}, ${plus(times("n", p.stride), -p.pad)});
            }
% endif
% endif
% if some:
            const ${element} *r = ${plus("s + " + times(f"({plus(times('row', q.stride), -q.pad)})", q.x_stride), (first * p.stride - p.pad) * p.x_stride)};
            ${code} *first = ${plus("to", first * k.y_p)};
% if whole:
            const ${element} *const end = r + ${(last - first) * p.stride * p.x_stride};
% else:
            const ${element} *const end = r + (inside ? ${(last - first) * p.stride * p.x_stride} : 0);
% endif
            while (r != end) {
                uint32_t e;
                uint32_t o;
                uint32_t h;
                uint32_t v;
                t = tilewright_here(t);
% for channel in range(4):
                int32_t ${"s" if k.unrolled else "a"}${channel} = (int32_t)t[${channel}];
% endfor
% if k.unrolled:
% for pixel in "ab":
% for channel in range(4):
                int32_t ${pixel}${channel};
% endfor
% endfor
% for n in range(q.kernel):
% for turn, (m, held) in enumerate(k.taps):
<% before = "" if n + turn else "s" %>\
${weights("t", header + (n * p.kernel + m) * tap_words)}\
% if not held:
${inputs(plus("r", m * p.dilation * p.x_stride))}\
% endif
${multiply("a", before or "a")}\
${inputs(plus("r", (m * p.dilation + p.stride) * p.x_stride))}\
${multiply("b", before or "b")}\
% if turn + 1 < p.kernel:
                r = tilewright_here(r);
% else:
                r = tilewright_here(${plus("r", row_step if n + 1 < q.kernel else pair_step - (q.kernel - 1) * row_step)});
% endif
% endfor
% endfor
% else:
% for channel in range(4):
                int32_t b${channel} = a${channel};
% endfor
                const uint32_t *w = t + ${header};
                const uint32_t *const behind = w + ${p.kernel * q.kernel * tap_words};
                while (w != behind) {
% for turn, (m, held) in enumerate(k.taps):
${weights("w", m * tap_words)}\
% if not held:
${inputs(plus("r", m * p.dilation * p.x_stride))}\
% endif
${multiply("a", "a")}\
${inputs(plus("r", (m * p.dilation + p.stride) * p.x_stride))}\
${multiply("b", "b")}\
                    r = tilewright_here(r${f" + {row_step}" if turn + 1 == p.kernel else ""});
% endfor
                    w = tilewright_here(w + ${p.kernel * tap_words});
                }
                r = ${plus("r", pair_step - q.kernel * row_step)};
% endif
                ${code} *const second = first + ${k.y_p};
${codes_of(["a", "b"], ["first", "second"])}\
                first += ${2 * k.y_p};
            }
% endif
            ${"given" if k.packed else "t"} += ${k.table_words};
        }
    }
}
