<%
h, w, q = k.h, k.w, k.requantise
names = sorted({run.taps for run in k.lines})
row, (result, across), (along_w, across_w) = h.x_stride, k.y_strides, k.w_strides
%>\
<%def name="step(item, taps, indent, base, out)">
% for register, at in item.loads:
% for i, t in enumerate(taps):
${indent}r${register}_${t} = x[${(at - base) * row + i * w.x_stride}];
% endfor
% endfor
<%
terms = [f"r{register}_{t} * w{i}_{t}" for i, register in enumerate(item.window) if register >= 0 for t in taps]
lost = [f"w{i}_{t}" for i, register in enumerate(item.window) if register < 0 for t in taps]
start = f"b + ({' + '.join(lost)}) * {k.zero}" if lost and k.zero else "b"
%>\
${indent}acc = ${start};
% for term in terms:
${indent}acc += ${term};
% endfor
${indent}code = ${q.code("acc")};
${indent}code = code < low ? low : code;
${indent}code = code > high ? high : code;
${indent}y[${out * result}] = (${k.y_type})code;
</%def>\
% for number, taps in enumerate(names):
${k.attribute} static void ${f.name}_line${number}(const ${k.x_type} *x, const ${k.w_type} *w, int32_t b, ${"".join(f"const {c_type} {name}, " for c_type, name in q.of_channel)}${k.y_type} *y)
{
% for i in range(h.kernel):
% for t in taps:
    const int32_t w${i}_${t} = w[${i * along_w + t * across_w}];
% endfor
% endfor
% for i in range(h.kernel):
    int32_t ${", ".join(f"r{i}_{t} = 0" for t in taps)};
% endfor
    int32_t acc;
    int32_t code;
% for name, value in q.of_layer:
    const int32_t ${name} = ${value};
% endfor
<%
lost = [f"w[{i * along_w + t * across_w}]" for i in range(h.kernel) for t in range(w.kernel) if t not in taps]
base = max(len(k.head) * h.stride - h.pad, 0) if k.rounds else 0
%>\
% if lost and k.zero:
    b += (${" + ".join(lost)}) * ${k.zero};
% endif
% for at, item in enumerate(k.head):
${step(item, taps, "    ", 0, at)}\
% endfor
% if k.rounds:
    x = &x[${base * row}];
    y = &y[${len(k.head) * result}];
    const ${k.y_type} *const end = ${plus("y", k.rounds * len(k.steady) * result)};
    do {
        TILEWRIGHT_HIDE(x);
% for at, item in enumerate(k.steady):
${step(item, taps, "        ", base, at)}\
% endfor
        x = &x[${len(k.steady) * h.stride * row}];
        y = &y[${len(k.steady) * result}];
    } while (y != end);
<% base += k.rounds * len(k.steady) * h.stride %>\
% for at, item in enumerate(k.tail):
${step(item, taps, "    ", base, at)}\
% endfor
% else:
% for at, item in enumerate(k.tail):
${step(item, taps, "    ", 0, at + len(k.head))}\
% endfor
% endif
}

% endfor
<%def name="call(taps, source, y)">${f.name}_line${names.index(taps)}(${source}, w + c * ${h.kernel * w.kernel}, b[c], ${"".join(f"{name}[c], " for _, name in q.of_channel)}${y});</%def>\
static void ${f.name}(${f.parameters})
{
% if k.plane:
    ${k.x_type} *const plane = scratch;
    for (int c = 0; c < ${k.channels}; c++) {
        for (int i = 0; i < ${h.size * w.size}; i++) {
            plane[i] = x[${times("i", k.channels)} + c];
        }
% for run in k.lines:
        for (int ow = ${run.first}; ow < ${run.last}; ow++) {
            ${call(run.taps, f"plane + {grouped(plus(times('ow', w.stride), run.taps[0] - w.pad))}", f"y + {times('ow', across)} + c")}
        }
% endfor
    }
% else:
% for run in k.lines:
    for (int oh = ${run.first}; oh < ${run.last}; oh++) {
        const ${k.x_type} *const xr = x + ${times(grouped(plus(times("oh", w.stride), -(w.pad - run.taps[0]))), w.x_stride)};
        ${k.y_type} *const yr = y + ${times("oh", across)};
        for (int c = 0; c < ${k.channels}; c++) {
            ${call(run.taps, "xr + c", "yr + c")}
        }
    }
% endfor
% endif
}
