<%def name="stored(k, j)">\
% for o in range(4):
% if k.results % 4 and o >= k.results % 4:
                if (c + ${o} < ${k.results})
% endif
                {
                    const float v = sums[${plus(j, o)}];
                    to[${o}] = ${k.clamp};
                }
% endfor
</%def>\
<%def name="products(k, depth)">\
        const float *weights = w;
        for (int c = 0; c < ${k.results}; c += 4) {
            float sums[16];
            weights = tilewright_float_block(xs, weights, ${depth}, sums);
            for (int j = 0; j < 4; j++) {
                float *const to = results[j] + c;
${stored(k, "4 * j")}\
            }
        }
</%def>\
<%def name="by_planes(k, depth)">\
<%
h, w = k.h, k.w
above = h.pad > 0 or (h.out - 1) * h.stride - h.pad + (h.kernel - 1) * h.dilation >= h.size
beside = w.pad > 0 or (w.out - 1) * w.stride - w.pad + (w.kernel - 1) * w.dilation >= w.size
span = k.slide.span
lefts = [min(ow, w.out - 4) * w.stride - w.pad for ow in range(0, w.out, 4)]
whole = any(left >= 0 and left + span <= w.size for left in lefts)
%>\
    float *const xs = scratch;
    for (int oh = 0; oh < ${h.out}; oh++) {
        for (int ow = 0; ow < ${w.out}; ow += 4) {
            const int at = ${f"ow < {w.out - 4} ? ow : {w.out - 4}" if w.out % 4 else "ow"};
            const int left = ${plus(times("at", w.stride), -w.pad)};
% if beside:
            const int first = left < 0 ? -left : 0;
            const int end = left > ${w.size - span} ? ${w.size} - left : ${span};
% endif
            float *results[4];
            for (int j = 0; j < 4; j++) {
                results[j] = y + ${times(f"({times('oh', w.out)} + at + j)", k.out_channels)};
            }
            float *put = xs;
            for (int c = 0; c < ${k.channels}; c++) {
                for (int kh = 0; kh < ${h.kernel}; kh++) {
% if above or h.x_stride:
                    const int ih = ${plus(plus(times("oh", h.stride), -h.pad) + " + " + times("kh", h.dilation), 0)};
% endif
% if above or beside:
                    float line[${span}];
                    const float *${"from" if whole else "const from"} = line;
% endif
% if not whole:
                    {
% elif above and beside:
                    if (ih >= 0 && ih < ${h.size} && first == 0 && end == ${span}) {
% elif above:
                    if (ih >= 0 && ih < ${h.size}) {
% elif beside:
                    if (first == 0 && end == ${span}) {
% endif
% if above or beside:
% if whole:
                        from = ${added("x", times("c", k.x_channel), times("ih", h.x_stride), "left")};
                    } else {
% endif
                        (void)memset(line, 0, sizeof line);
% if beside:
                        for (int i = first; ${f"ih >= 0 && ih < {h.size} && " if above else ""}i < end; i++) {
                            line[i] = x[${added(times("c", k.x_channel), times("ih", h.x_stride), "left", "i")}];
                        }
% endif
                    }
% else:
                    const float *const from = ${added("x", times("c", k.x_channel), times("ih", h.x_stride), "left")};
% endif
                    /* every element that four pixels read of the row, stored tap by tap */
                    __asm__ volatile(
                        "vldmia %[from], {s0-s${span - 1}}\n\t"
% for registers in k.slide.stores:
                        "vstmia %[put]!, {${registers}}\n\t"
% endfor
                        : [put] "+r"(put)
                        : [from] "r"(from)
                        : "memory", ${", ".join(f'"s{n}"' for n in range(span))});
                }
            }
${products(k, depth)}\
        }
    }
</%def>\
<%def name="by_pixel(k, depth)">\
<% h, w = k.h, k.w %>\
    float *const xs = scratch;
    for (int p = 0; p < ${k.pixels}; p++) {
        float *put = xs;
        for (int kh = 0; kh < ${h.kernel}; kh++) {
            for (int kw = 0; kw < ${w.kernel}; kw++) {
<%
row, column = (f"p / {w.out}", f"p % {w.out}") if k.pixels > 1 else ("", "")
ih = plus(times("kh", h.dilation) + (f" + {times(row, h.stride)}" if row else ""), -h.pad)
iw = plus(times("kw", w.dilation) + (f" + {times(column, w.stride)}" if row else ""), -w.pad)
element = f"x[{added(times(f'({ih})', h.x_stride), times(f'({iw})', w.x_stride), times('i', k.x_channel))}]"
%>\
% if k.padded:
                const bool tap = ${ih} >= 0 && ${ih} < ${h.size} && ${iw} >= 0 && ${iw} < ${w.size};
% endif
                for (int i = 0; i < ${k.channels}; i++) {
                    put[i] = ${f"tap ? {element} : 0.0f" if k.padded else element};
                }
                put += ${k.channels};
            }
        }
        const float *weights = w;
        for (int c = 0; c < ${k.results}; c += 4) {
            float sums[4];
            float *const to = y + ${times("p", k.out_channels)} + c;
            weights = tilewright_float_row(xs, weights, ${depth}, sums);
${stored(k, "0")}\
        }
    }
</%def>\
