<%namespace name="parts" file="/mve_float_parts.c.mako"/>\
<%
h, w, g = k.h, k.w, k.groups
row = w.kernel * g.channels
last = max(k.pixels - 4, 0)
bytes_apart = 4 * k.x_channel
group = times("g", g.channels * k.x_channel) if g.count > 1 else ""
at_row = f"(tops[j] + {times('kh', h.dilation)})"
at_column = f"(lefts[j] + {times('kw', w.dilation)})"
inside = " && ".join(f"{at} >= 0 && {at} < {size}" for at, size in (("ih", h.size), ("iw", w.size)))
%>\
<%def name="next_pixel(indent)">\
${indent}left += ${w.stride};
${indent}if (left == ${plus(times(w.out, w.stride), -w.pad)}) {
${indent}    left = ${-w.pad};
${indent}    top += ${h.stride};
${indent}}
</%def>\
<%def name="whole(indent)">\
${indent}const float *sources[4];
% if k.x_channel != 1:
${indent}static const int32_t steps[4] = {${", ".join([str(bytes_apart)] * 4)}};
% endif
${indent}for (int kh = 0; kh < ${h.kernel}; kh++) {
${indent}    for (int kw = 0; kw < ${1 if k.runs else w.kernel}; kw++) {
${indent}        for (int j = 0; j < 4; j++) {
${indent}            sources[j] = ${added("x", times(at_row, h.x_stride), times(at_column, w.x_stride), group)};
${indent}        }
% if k.x_channel == 1:
${indent}        put = tilewright_mve_interleave(sources, put, ${row if k.runs else g.channels});
% else:
${indent}        put = tilewright_mve_interleave_by(sources, steps, put, ${g.channels});
% endif
${indent}    }
${indent}}
</%def>\
<%def name="thin(indent)">\
${indent}uint32_t froms[4];
${indent}for (int j = 0; j < 4; j++) {
${indent}    const int element = ${added(times("tops[j]", h.x_stride), times("lefts[j]", w.x_stride))};
${indent}    froms[j] = (uint32_t)element;
${indent}}
${indent}const uint32x4_t four = vldrwq_u32(froms);
${indent}for (int kh = 0; kh < ${h.kernel}; kh++) {
${indent}    const float *s = ${added("x", times("kh", h.dilation * h.x_stride), group)};
${indent}    for (int kw = 0; kw < ${w.kernel}; kw++) {
% for i in range(g.channels):
${indent}        vstrwq_f32(${plus("put", 4 * i)}, vldrwq_gather_shifted_offset_f32(${plus("s", i * k.x_channel)}, four));
% endfor
${indent}        put = &put[${4 * g.channels}];
${indent}        s = &s[${w.dilation * w.x_stride}];
${indent}    }
${indent}}
</%def>\
<%def name="edge(indent)">\
${indent}const float *sources[4];
${indent}for (int kh = 0; kh < ${h.kernel}; kh++) {
${indent}    for (int kw = 0; kw < ${w.kernel}; kw++) {
% if k.x_channel != 1:
${indent}        int32_t steps[4] = {0};
% endif
${indent}        for (int j = 0; j < 4; j++) {
${indent}            const int ih = tops[j] + ${times("kh", h.dilation)};
${indent}            const int iw = lefts[j] + ${times("kw", w.dilation)};
${indent}            const bool tap = ${inside};
${indent}            sources[j] = tap ? ${added("x", times("ih", h.x_stride), times("iw", w.x_stride), group)} : pad;
% if k.x_channel != 1:
${indent}            if (tap) {
${indent}                steps[j] = ${bytes_apart};
${indent}            }
% endif
${indent}        }
% if k.x_channel == 1:
${indent}        put = tilewright_mve_interleave(sources, put, ${g.channels});
% else:
${indent}        put = tilewright_mve_interleave_by(sources, steps, put, ${g.channels});
% endif
${indent}    }
${indent}}
</%def>\
<%def name="thin_edge(indent)">\
<% side_by_side = k.x_channel == 1 and w.x_stride == g.channels %>\
${indent}while (put != xs + ${4 * k.depth}) {
${indent}    vstrwq_f32(put, vdupq_n_f32(0.0f));
${indent}    put = &put[4];
${indent}}
${indent}for (int j = 0; j < 4; j++) {
${indent}    const int first = lefts[j] < 0 ? -lefts[j] : 0;
${indent}    const int end = lefts[j] > ${w.size - w.kernel} ? ${w.size} - lefts[j] : ${w.kernel};
${indent}    for (int kh = 0; kh < ${h.kernel}; kh++) {
${indent}        const int ih = tops[j] + ${times("kh", h.dilation)};
${indent}        if (ih >= 0 && ih < ${h.size} && end > first) {
${indent}            const float *const s = ${added("x", times("ih", h.x_stride), times("(lefts[j] + first)", w.x_stride), group)};
${indent}            float *const to = xs + (${times("kh", w.kernel)} + first) * ${4 * g.channels} + j;
% if side_by_side:
${indent}            tilewright_mve_place(s, 1, to, 4, ${times("(end - first)", g.channels)});
% else:
% for i in range(g.channels):
${indent}            tilewright_mve_place(${plus("s", i * k.x_channel)}, ${w.x_stride}, ${plus("to", 4 * i)}, ${4 * g.channels}, end - first);
% endfor
% endif
${indent}        }
${indent}    }
${indent}}
</%def>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
% if not k.direct:
    float *const xs = scratch;
% endif
    int top = ${-h.pad};
    int left = ${-w.pad};
% if k.few:
    for (int p = 0; p < ${k.pixels}; p++) {
        const float *weights = w;
        for (int g = 0; g < ${g.count}; g++) {
            float *const to = y + ${times("p", g.all_results)} + ${times("g", g.results)};
% if k.direct:
            const float *const row = ${added("x", times("top", h.x_stride), times("left", w.x_stride), group)};
% else:
            const float *const row = xs;
            float *put = xs;
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                for (int kw = 0; kw < ${w.kernel}; kw++) {
                    const int ih = top + ${times("kh", h.dilation)};
                    const int iw = left + ${times("kw", w.dilation)};
% if k.padded:
                    const bool tap = ${inside};
% endif
                    for (int i = 0; i < ${g.channels}; i++) {
                        *put++ = ${"tap ? " if k.padded else ""}x[${added(times("ih", h.x_stride), times("iw", w.x_stride), group, times("i", k.x_channel))}]${" : 0.0f" if k.padded else ""};
                    }
                }
            }
% endif
${parts.row(g.results, k.depth, k.clamp, "            ")}\
        }
${next_pixel("        ")}\
    }
% else:
    int p = 0;
    while (p < ${k.pixels}) {
% if k.pixels % 4 and last:
        if (p > ${last}) {
            p = ${last};
            top = ${last // w.out * h.stride - h.pad};
            left = ${last % w.out * w.stride - w.pad};
        }
% endif
% if k.padded or h.x_stride:
        int tops[4];
% endif
% if k.padded or w.x_stride:
        int lefts[4];
% endif
% if k.padded and k.whole:
        int inside = 1;
% endif
        for (int j = 0; j < 4; j++) {
% if k.padded or h.x_stride:
            tops[j] = top;
% endif
% if k.padded or w.x_stride:
            lefts[j] = left;
% endif
% if k.padded and k.whole:
            inside &= (top >= 0 && top <= ${h.size - (h.kernel - 1) * h.dilation - 1} && left >= 0 && left <= ${w.size - (w.kernel - 1) * w.dilation - 1}) ? 1 : 0;
% endif
% if k.pixels < 4:
            if (j >= ${k.pixels - 1}) {
                continue;
            }
% endif
${next_pixel("            ")}\
        }
        const float *weights = w;
        for (int g = 0; g < ${g.count}; g++) {
            float *put = xs;
% if k.padded and not k.whole:
${edge("            ") if k.reads_zeros else thin_edge("            ")}\
% elif k.padded:
            if (inside != 0) {
${thin("                ") if k.thin else whole("                ")}\
            } else {
${edge("                ") if k.reads_zeros else thin_edge("                ")}\
            }
% else:
${thin("            ") if k.thin else whole("            ")}\
% endif
            float *const to = y + ${times("p", g.all_results)} + ${times("g", g.results)};
${parts.block(g.results, k.depth, g.all_results, k.places, k.clamp, "            ")}\
        }
        p += 4;
    }
% endif
}
