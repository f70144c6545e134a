<%
h, w = k.h, k.w
row = w.kernel * k.channels
x = "x" if k.x_type == "int8_t" else "(const int8_t *)x"
signed = (lambda value: f"tilewright_mve_signed({value})") if k.unsigned else str
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
ahead = f" + {k.reads.ahead}" if k.reads.ahead else ""
begin = f" + {k.first}" if k.first else ""
several = k.pixels >= 4
overlapped = several and k.pixels % 4 > 0
last = max(k.pixels - 4, 0)
froms = ", ".join(f'"{suffix}"' for suffix in k.reads.froms)
form = {1: "ONE", 2: "TWO"}.get(k.depth // 16, "STEPS")
sums, others = ("q6", "q7") if form == "TWO" else ("q4", "q5")
end = w.out * w.stride - w.pad
lowest, leftmost = h.size - (h.kernel - 1) * h.dilation - 1, w.size - (w.kernel - 1) * w.dilation - 1
grouped = k.groups.count > 1
one_run = not grouped and (w.dilation == 1 or w.kernel == 1)
inside = f"(unsigned)top <= {lowest}u && (unsigned)left <= {leftmost}u" if one_run and min(lowest, leftmost, k.whole) >= 0 else ""
%>\
<%def name="exactly(source, length, at=0)">
% for i in range(0, length, 16):
            vstrbq_s8(${plus("to", at + i)}, ${signed(f"vldrbq_s8({plus(source, i)})" if length - i >= 16 else f"vldrbq_z_s8({plus(source, i)}, vctp8q({length - i}u))")});
% endfor
</%def>\
<%def name="fill(to)">
        for (int j = 0; j < ${min(4, k.pixels)}; j++) {
            (void)memcpy(${to} + j * ${k.out_channels}, fill, ${k.out_channels});
        }
</%def>\
% if k.way != "line":
/* Gathers the inputs of one pixel. */
TILEWRIGHT_MVE void ${f.name}_gather(const int8_t *x, int8_t *to, int top, int left)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int ih = top + ${times("kh", h.dilation)};
        const bool row_inside = ih >= 0 && ih < ${h.size};
% if w.dilation == 1 and not grouped:
        if (row_inside && left >= 0 && left <= ${w.size - w.kernel}) {
            const int8_t *const s = x + ${times("ih", h.x_stride)} + ${times("left", w.x_stride)};
${exactly("s", row)}\
            to = &to[${row}];
            continue;
        }
% endif
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int iw = left + ${times("kw", w.dilation)};
            if (row_inside && iw >= 0 && iw < ${w.size}) {
                const int8_t *const s = x + ${times("ih", h.x_stride)} + ${times("iw", w.x_stride)};
${exactly("s", k.channels)}\
            } else {
                for (int i = 0; i < ${k.channels}; i += 16) {
                    vstrbq_s8(to + i, vdupq_n_s8(${k.zero_point}));
                }
            }
            to = &to[${k.channels}];
        }
    }
}

% endif
TILEWRIGHT_MVE_PIXELS(${f.name}_pixels, TILEWRIGHT_MVE_${form}_READ${"" if form == "STEPS" else f"({froms})"},
% if form == "STEPS":
% for suffix, a in zip(k.reads.froms, ["", *"a" * len(k.reads.froms)]):
    TILEWRIGHT_MVE_STEP("${k.reads.load}", "${suffix}", "${a}")
% endfor
% for bytes_back in k.reads.back:
    TILEWRIGHT_MVE_BACK("${bytes_back}")
% endfor
% else:
    TILEWRIGHT_MVE_${form}${f"({froms})" if form == "TWO" else ""}
% endif
    , TILEWRIGHT_MVE_${k.codes}("${sums}", "${others}", "${k.shift}"), TILEWRIGHT_MVE_${"TWO" if form == "TWO" else "ONE"}_STORE("${sums}"))

static void ${f.name}(${f.parameters})
{
    static const uint16_t places[8] = {${", ".join(map(str, k.places))}};
% if k.way == "line":
    for (int p = 0; p < ${k.pixels}; p += 4) {
        int at = ${f"p < {last} ? p : {last}" if overlapped else "p"};
        /* Hides that pointers advance by constants, as only one counter is kept beside the assembly. */
        __asm__("" : "+r"(at));
        const int left = at${f" - {w.pad}" if w.pad else ""};
        int8_t *const to = ${y} + at * ${k.out_channels}${begin};
        const int8_t *from = x + left * ${k.channels};
% if k.copies:
        if (${"left < 0 || " if w.pad else ""}left > ${k.whole}) {
            int8_t *copy = scratch;
            for (int i = left; i < left + ${k.segment}; i++, copy += ${k.channels}) {
% if w.pad or (w.out - 1) + (w.kernel - 1) * w.dilation - w.pad >= w.size or not several:
                if (i < 0 || i >= ${w.size}) {
                    tilewright_mve_fill(copy, ${k.zero_point}, ${k.channels});
                    continue;
                }
% endif
                tilewright_mve_run(copy, x + i * ${k.channels}, ${k.channels});
            }
            from = scratch;
        }
% endif
% if ahead:
        from += ${k.reads.ahead};
% endif
% if k.sparse:
${fill(f"to{f' - {k.first}' if k.first else ''}")}\
% endif
        ${f.name}_pixels(from, ${", ".join(f"from + {min(j, k.pixels - 1) * k.channels}" for j in range(1, 4))}, stream, to, places);
    }
% else:
    int8_t *const patch = scratch;
    int top = ${-h.pad};
    int left = ${-w.pad};
    for (int p = 0; p < ${k.pixels}; p += 4) {
        const int at = ${f"p < {last} ? p : {last}" if overlapped else "p"};
        const int8_t *sources[4];
% if grouped:
        int tops[4];
        int lefts[4];
% endif
% if overlapped:
        if (at < p) {
            top = ${last // w.out * h.stride - h.pad};
            left = ${last % w.out * w.stride - w.pad};
        }
% endif
        for (int j = 0; j < 4; j++) {
            int8_t *const to = patch + j * ${k.depth};
            sources[j] = to${ahead};
% if grouped:
            tops[j] = top;
            lefts[j] = left;
% elif inside:
            const int from = ${times("top", h.x_stride)} + ${times("left", w.x_stride)};
            if (${inside} && from <= ${k.whole}) {
% if k.way == "run":
                sources[j] = x${ahead} + from;
% else:
                const int8_t *const s = ${x} + from;
% for kh in range(h.kernel):
% for i in range(0, row, 16):
                vstrbq_s8(${plus("to", kh * row + i)}, ${signed(f"vldrbq_s8({plus('s', kh * h.dilation * h.x_stride + i)})")});
% endfor
% endfor
% endif
            } else {
                ${f.name}_gather(${x}, to, top, left);
            }
% else:
            ${f.name}_gather(${x}, to, top, left);
% endif
% if not several:
            if (j >= ${k.pixels - 1}) {
                continue;
            }
% endif
            left += ${w.stride};
            if (left == ${end}) {
                left = ${-w.pad};
                top += ${h.stride};
            }
        }
        int8_t *const to = ${y} + at * ${k.out_channels}${begin};
% if k.sparse:
${fill(f"to{f' - {k.first}' if k.first else ''}")}\
% endif
% if grouped:
        for (int g = 0; g < ${k.groups.count}; g++) {
            for (int j = 0; j < 4; j++) {
                ${f.name}_gather(${x} + g * ${k.channels}, patch + j * ${k.depth}, tops[j], lefts[j]);
            }
            ${f.name}_pixels(sources[0], sources[1], sources[2], sources[3], stream + g * ${k.group_words}, to + g * ${k.groups.results}, places);
        }
% else:
        ${f.name}_pixels(sources[0], sources[1], sources[2], sources[3], stream, to, places);
% endif
    }
% endif
}
