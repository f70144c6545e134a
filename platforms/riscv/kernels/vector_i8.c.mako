<%
h, w, q, v = k.h, k.w, k.requantise, k.block
P, L = v.rows, v.lanes
arrays = {n.name for n in q.arrays}
inside = []
if h.inner_first > 0: inside.append("top >= 0")
if h.inner_last < h.out: inside.append(f"top < {h.size - (h.kernel - 1) * h.dilation}")
if w.inner_first > 0: inside.append("left >= 0")
if w.inner_last < w.out: inside.append(f"left < {w.size - (w.kernel - 1) * w.dilation}")
%>\
<%def name="asm(lines)">
% for line in lines:
                     "${line}\n\t"
% endfor
</%def>\
/* ${P} rows of inputs, read as runs of so many bytes, times up to ${L} columns of weights; their codes. */
static void ${f.name}_block(${"".join(f"const {k.x_type} *x{p}, " for p in range(P))}int runs, int length, int pitch, const ${k.w_type} *w, int width, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
    const ${k.x_type} *end;
    int ${", ".join(f"v{i}" for i in range(min(4, P)))};
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(k.sums)}\
                     ".option pop"
                     : ${", ".join(f'[x{p}] "+&r"(x{p})' for p in range(P))}, [w] "+&r"(w), [runs] "+&r"(runs), [end] "=&r"(end),
                       ${", ".join(f'[v{i}] "=&r"(v{i})' for i in range(min(4, P)))}
                     : [width] "r"(width), [step] "r"(width${f" * {k.w_bytes}" if k.w_bytes > 1 else ""}), [length] "r"(length), [pitch] "r"(pitch), [b] "r"(b)
                     : "memory");
% if k.operands:
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(k.codes)}\
                     ".option pop"
                     : [y] "+&r"(y)
                     : [width] "r"(width), [y_step] "r"(${k.groups.all_results * k.y_bytes}), ${", ".join(f'[{name}] "r"({value})' for name, value in k.operands)}
                     : "memory");
% else:
    int32_t acc[${P}][${L}];
    int32_t *sums = &acc[0][0];
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(k.codes)}\
                     ".option pop"
                     : [acc] "+&r"(sums)
                     : [width] "r"(width)
                     : "memory");
    for (int o = 0; o < width; o++) {
% for declaration in q.declarations("o"):
        ${declaration}
% endfor
        for (int p = 0; p < ${P}; p++) {
            int32_t code = ${q.code("acc[p][o]", "o", q.held)};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${times("p", k.groups.all_results)} + o] = (${k.y_type})code;
        }
    }
% endif
}

% if k.gather or k.padded:
/* The inputs of one window side by side. */
static void ${f.name}_gather(const ${k.x_type} *x, int top, int left, ${k.x_type} *to)
{
% if k.joined:
    const int first = left < 0 ? -left : 0;
    const int last = left > ${w.size - w.kernel} ? ${w.size} - left : ${w.kernel};
% endif
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int row = top + ${times("kh", h.dilation)};
% if k.joined:
        if (row < 0 || row >= ${h.size} || first >= last) {
            tilewright_rvv_fill${8 * k.x_bytes}(to, ${k.zero}, ${w.kernel * k.groups.channels});
        } else {
% if w.inner_first > 0:
            tilewright_rvv_fill${8 * k.x_bytes}(to, ${k.zero}, ${times("first", k.groups.channels)});
% endif
            tilewright_rvv_copy(to + ${times("first", k.groups.channels)}, x + ${times("row", h.x_stride)} + ${times("(left + first)", w.x_stride)}, ${times("(last - first)", k.groups.channels * k.x_bytes)});
% if w.inner_last < w.out:
            tilewright_rvv_fill${8 * k.x_bytes}(to + ${times("last", k.groups.channels)}, ${k.zero}, ${times(f"({w.kernel} - last)", k.groups.channels)});
% endif
        }
        to = &to[${w.kernel * k.groups.channels}];
% else:
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
% if k.padded:
            if (row < 0 || row >= ${h.size} || column < 0 || column >= ${w.size}) {
                tilewright_rvv_fill${8 * k.x_bytes}(to, ${k.zero}, ${k.groups.channels});
            } else {
                tilewright_rvv_copy(to, x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)}, ${k.groups.channels * k.x_bytes});
            }
% else:
            tilewright_rvv_copy(to, x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)}, ${k.groups.channels * k.x_bytes});
% endif
            to = &to[${k.groups.channels}];
        }
% endif
    }
}

% endif
static void ${f.name}(${f.parameters})
{
% if k.gather or k.padded:
    ${k.x_type} *const windows = scratch;
% endif
    for (int g = 0; g < ${k.groups.count}; g++) {
        for (int n = 0; n < ${k.results}; n += ${P}) {
            const int at = n < ${k.results - P} ? n : ${k.results - P};
            int runs = ${k.runs}, length = ${k.length * k.x_bytes}, pitch = ${k.pitch * k.x_bytes};
% if k.pointwise:
            const ${k.x_type} *const from = ${k.x_name} + ${times("at", w.stride * w.x_stride)} + ${times("g", k.groups.channels)};
% for p in range(P):
            const ${k.x_type} *const x${p} = ${plus("from", p * w.stride * w.x_stride)};
% endfor
% else:
            int row = at / ${w.out}, column = at - ${times("row", w.out)};
% if not k.gather:
            int places[${P}];
% if inside:
            bool inside = true;
% endif
            for (int p = 0; p < ${P}; p++) {
                const int top = ${plus(times("row", h.stride), -h.pad)}, left = ${plus(times("column", w.stride), -w.pad)};
% if inside:
                inside = inside && ${" && ".join(inside)};
% endif
                places[p] = ${times("top", h.x_stride)} + ${times("left", w.x_stride)};
                if (++column == ${w.out}) {
                    column = 0;
                    row++;
                }
            }
% endif
% for p in range(P):
            const ${k.x_type} *x${p}${f" = {k.x_name} + {times('g', k.groups.channels)} + places[{p}]" if not k.gather and not inside else ""};
% endfor
% if inside and not k.gather:
            if (inside) {
% for p in range(P):
                x${p} = ${k.x_name} + ${times("g", k.groups.channels)} + places[${p}];
% endfor
            } else {
                row = at / ${w.out};
                column = at - ${times("row", w.out)};
% endif
% if k.gather or inside:
% for p in range(P):
                ${f.name}_gather(${k.x_name} + ${times("g", k.groups.channels)}, ${plus(times("row", h.stride), -h.pad)}, ${plus(times("column", w.stride), -w.pad)}, ${plus("windows", p * k.depth)});
                x${p} = ${plus("windows", p * k.depth)};
% if p + 1 < P:
                if (++column == ${w.out}) {
                    column = 0;
                    row++;
                }
% endif
% endfor
                runs = 1;
                length = ${k.depth * k.x_bytes};
                pitch = 0;
% endif
% if inside and not k.gather:
            }
% endif
% endif
            for (int o = 0; o < ${k.groups.results}; o += ${L}) {
                const int channel = ${times("g", k.groups.results)} + o;
                ${f.name}_block(${"".join(f"x{p}, " for p in range(P))}runs, length, pitch, w + ${times("channel", k.depth)}, ${k.groups.results} - o < ${L} ? ${k.groups.results} - o : ${L}, ${k.bias_name} + channel, ${q.arguments("channel")}y + ${times("at", k.groups.all_results)} + channel);
            }
        }
    }
}
