<%
h, w, q = k.h, k.w, k.requantise
top, bottom = max(0, -h.pad), min(h.size, k.plane_rows - h.pad)
covered = k.phases * k.columns
right = max(0, min(w.size, covered - w.pad))
whole, short = k.results, w.out % k.phases if k.phases < w.out else 0
%>\
<%def name="step(line, item, indent, base, out)">
% for register, at in item.loads:
% for row in range(line.rows):
${indent}r${row}_${register} = x[${row * h.dilation * k.row + at - base}];
% endfor
% endfor
${indent}acc = ${"b" if k.whole else f"sums[{out}]"};
% for row in range(line.rows):
% for i, register in enumerate(item.window):
${indent}acc += r${row}_${register} * w${row}_${i};
% endfor
% endfor
% if k.whole:
${code(indent)}\
${indent}y[${out * k.phases * k.channels}] = (${k.y_type})code;
% else:
${indent}sums[${out}] = acc;
% endif
</%def>\
<%def name="code(indent)">
${indent}code = ${q.code("acc")};
${indent}code = code < low ? low : code;
${indent}code = code > high ? high : code;
</%def>\
<%def name="layer()">
    int32_t acc;
% if k.whole:
    int32_t code;
% for name, value in q.of_layer:
    const int32_t ${name} = ${value};
% endfor
% endif
</%def>\
<%
numbers = "".join(f"const {c_type} {name}, " for c_type, name in q.of_channel)
given = "".join(f"{name}[c], " for _, name in q.of_channel)
target, move = ("y", k.phases * k.channels) if k.whole else ("sums", 1)
%>\
% for line in k.lines:
% if k.whole:
/* A line of ${line.results} results. */
${k.attribute} static void ${f.name}_line${line.results}(const ${k.x_type} *x, const ${k.w_type} *w, int32_t b, ${numbers}${k.y_type} *y)
% else:
/* Adds ${line.taps} taps to the sums of a line. */
${k.attribute} static void ${f.name}_taps${line.taps}(const ${k.x_type} *x, const ${k.w_type} *w, int32_t *sums)
% endif
{
% for row in range(line.rows):
% for i in range(line.taps):
    const int32_t w${row}_${i} = w[${row * w.kernel + i}];
% endfor
    int32_t ${", ".join(f"r{row}_{i}" for i in range(line.taps))};
% endfor
${layer()}\
${step(line, line.first, "    ", 0, 0)}\
<% again = len(line.steady); base = 0; out = 1 %>\
% if line.rounds:
    const ${k.y_type if k.whole else "int32_t"} *const end = ${target} + ${(1 + line.rounds * again) * move};
    ${target} = &${target}[${move}];
    do {
        TILEWRIGHT_HIDE(x);
% for at, item in enumerate(line.steady):
${step(line, item, "        ", 0, at)}\
% endfor
        x = &x[${again * w.stride}];
        ${target} = &${target}[${again * move}];
    } while (${target} != end);
<% base = line.rounds * again * w.stride; out = 0 %>\
% endif
% for at, item in enumerate(line.tail):
${step(line, item, "    ", base, at + out)}\
% endfor
}

% endfor
% if not k.whole:
/* Codes of a line's sums, which start anew. */
${k.attribute} static void ${f.name}_codes(int32_t *sums, int32_t b, ${numbers}${k.y_type} *y, int count)
{
    int32_t code;
% for name, value in q.of_layer:
    const int32_t ${name} = ${value};
% endfor
    do {
        const int32_t acc = *sums;
        *sums++ = b;
${code("        ")}\
        *y = (${k.y_type})code;
        y = &y[${k.phases * k.channels}];
    } while (--count > 0);
}

% endif
static void ${f.name}(${f.parameters})
{
    ${k.x_type} *const plane = scratch;
% if not k.whole:
    int32_t *const sums = (int32_t *)(void *)((unsigned char *)${plus("scratch", k.sums_at)});
% endif
    for (int i = 0; i < ${k.plane_rows * k.row}; i++) {
        plane[i] = ${k.zero};
    }
    for (int c = 0; c < ${k.channels}; c++) {
        for (int row = ${top}; row < ${bottom}; row++) {
            const ${k.x_type} *from = x + ${times("row", w.size * k.channels)} + c;
% if k.phases == 1:
            ${k.x_type} *to = plane + ${times(grouped(plus("row", h.pad)), k.row)} + ${w.pad};
            ${k.x_type} *const end = ${plus("to", right)};
            while (to != end) {
                *to++ = *from;
                from += ${k.channels};
            }
% else:
            for (int phase = 0; phase < ${k.phases}; phase++) {
                const int first = phase < ${w.pad % k.phases} ? ${plus("phase", k.phases - w.pad % k.phases)} : phase - ${w.pad % k.phases};
                ${k.x_type} *to = plane + ${times(grouped(plus("row", h.pad)), k.row)} + ${times("phase", k.columns)} + (${plus("first", w.pad)}) / ${k.phases};
                for (int i = first; i < ${right}; i += ${k.phases}) {
                    *to++ = from[${times("i", k.channels)}];
                }
            }
% endif
        }
% if not k.whole:
        for (int i = 0; i < ${k.phases * k.results}; i++) {
            sums[i] = b[c];
        }
% endif
        for (int oh = 0; oh < ${h.out}; oh++) {
            const ${k.x_type} *const line = plane + ${times("oh", h.stride * k.row)};
% if k.whole:
            for (int phase = 0; phase < ${min(k.phases, w.out)}; phase++) {
                ${k.y_type} *const to = y + ${times("(" + times("oh", w.out) + " + phase)", k.channels)} + c;
% if len(k.lines) > 1:
                if (phase >= ${short}) {
                    ${f.name}_line${k.lines[1].results}(line + ${times("phase", k.columns)}, w + ${times("c", h.kernel * w.kernel)}, b[c], ${given}to);
                    continue;
                }
% endif
                ${f.name}_line${whole}(line + ${times("phase", k.columns)}, w + ${times("c", h.kernel * w.kernel)}, b[c], ${given}to);
            }
% else:
            const ${k.w_type} *wr = w + ${times("c", h.kernel * w.kernel)};
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                for (int phase = 0; phase < ${k.phases}; phase++) {
                    const ${k.x_type} *const from = line + ${times("kh", h.dilation * k.row)} + ${times("phase", k.columns)};
% for part in k.taps:
                    ${f.name}_taps${k.lines[part.line].taps}(${plus("from", part.first)}, ${plus("wr", part.first)}, sums + ${times("phase", k.results)});
% endfor
                }
                wr = &wr[${w.kernel}];
            }
            for (int phase = 0; phase < ${min(k.phases, w.out)}; phase++) {
                ${f.name}_codes(sums + ${times("phase", k.results)}, b[c], ${given}y + ${times("(" + times("oh", w.out) + " + phase)", k.channels)} + c, ${f"phase < {short} ? {whole} : {whole - 1}" if short else whole});
            }
% endif
        }
    }
}
