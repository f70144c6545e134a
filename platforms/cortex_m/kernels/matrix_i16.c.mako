<%
h, w, g, q, b = k.h, k.w, k.groups, k.requantise, k.at_once
results = g.results
last = max(k.pixels - b, 0)
x = k.x_name if k.x_type == "int16_t" else f"(const int16_t *){k.x_name}"
words = k.row // 2 + k.row % 2
even = g.channels % 2 == 0
whole = not k.padded and k.by_runs and h.kernel == h.out == 1
step = 2 if k.form else 1
%>\
% if not whole:
/* Gathers the inputs of one pixel of a group. */
TILEWRIGHT_ONCE void ${f.name}_pixel(const int16_t *x, uint32_t *to, int top, int left)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int ih = top + ${times("kh", h.dilation)};
% if k.by_runs:
        if (${"ih >= 0 && ih < " + str(h.size) + " && " if k.padded else ""}left >= 0 && left <= ${w.size - w.kernel}) {
            to = tilewright_halves_gather(x + ${times("ih", h.x_stride)} + ${times("left", w.x_stride)}, to, ${k.row}, ${b}, ${k.flip}u);
            continue;
        }
% endif
% if even:
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int iw = left + ${times("kw", w.dilation)};
            if (ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size}) {
                to = tilewright_halves_gather(x + ${times("ih", h.x_stride)} + ${times("iw", w.x_stride)}, to, ${g.channels}, ${b}, ${k.flip}u);
            } else {
                for (int i = 0; i < ${g.channels // 2}; i++) {
                    *to = ${k.zero}u;
                    to = &to[${b}];
                }
            }
        }
% else:
        uint32_t pair = 0;
        int place = 0;
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int iw = left + ${times("kw", w.dilation)};
            const bool tap = ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size};
            for (int i = 0; i < ${g.channels}; i++) {
                const uint32_t code = tap ? ((uint32_t)x[${times("ih", h.x_stride)} + ${times("iw", w.x_stride)} + i] ^ ${k.flip & 0xFFFF}u) & 0xffffu : ${k.zero & 0xFFFF}u;
                if ((place & 1) == 0) {
                    pair = code;
                } else {
                    *to = pair | code << 16;
                    to = &to[${b}];
                }
                place++;
            }
        }
% if k.row % 2:
        *to = pair;
        to = &to[${b}];
% endif
% endif
    }
}

% endif
% if not k.matrix:
/* Codes of two channels of a block of pixels. */
TILEWRIGHT_ONCE void ${f.name}_pair(const uint32_t *xs, const uint32_t *w, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
    int32_t sums[2][4];
    tilewright_half_sums${b}${k.form}(xs, w, b, ${k.pairs}, sums);
    for (int o = 0; o < 2; o++) {
% for declaration in q.declarations("o"):
        ${declaration}
% endfor
        ${k.y_type} *to = y + o;
        TILEWRIGHT_UNROLL
        for (int p = 0; p < ${b}; p++) {
            int32_t code = ${q.code("sums[o][p]", "o", q.held)};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            *to = (${k.y_type})code;
            to = &to[${g.all_results}];
        }
    }
}

% endif
static void ${f.name}(${f.parameters})
{
    uint32_t *const xs = scratch;
    for (int p = 0; p < ${k.pixels}; p += ${b}) {
        const int at = ${f"p < {last} ? p : {last}" if k.pixels % b else "p"};
% if whole:
        for (int j = 0; j < ${b}; j++) {
            (void)tilewright_halves_gather(${x} + ${times("(at + j)", w.stride * w.x_stride)}, xs + j, ${k.row}, ${b}, ${k.flip}u);
        }
% if not k.matrix:
        const int g = 0;
% endif
        {
% else:
        for (int g = 0; g < ${g.count}; g++) {
            for (int j = 0; j < ${b}; j++) {
                const int oh = (at + j) / ${w.out};
                const int ow = at + j - oh * ${w.out};
                ${f.name}_pixel(${x} + ${times("g", g.channels)}, xs + j, ${plus(times("oh", h.stride), -h.pad)}, ${plus(times("ow", w.stride), -w.pad)});
            }
% endif
% if k.matrix:
            int8_t *const to = (int8_t *)(y + ${times("at", g.all_results)}${f" + {times('g', results)}" if g.count > 1 else ""});
% for first, count in ((0, results // 2 * 2), (results - 2, 2)):
% if count and (first == 0 or results % 2):
<% pair = (first + 1) // 2 %>\
            tilewright_matrix${b}${k.matrix}(xs, ${plus("w", pair * k.pairs * step)}${f" + {times('g', k.group_weights)}" if g.count > 1 else ""}, ${plus("table", pair * k.table_step)}${f" + {times('g', (results + 1) // 2 * k.table_step)}" if g.count > 1 else ""}, ${plus("to", first * k.result_bytes)}, ${k.pairs}, ${count * k.result_bytes}, ${g.all_results * k.result_bytes}, codes);
% endif
% endfor
% else:
            ${k.y_type} *const to = y + ${times("at", g.all_results)} + ${times("g", results)};
            for (int c = 0; c < ${results}; c += 2) {
                const int channel = ${times("g", results)} + ${f"(c < {results - 2} ? c : {results - 2})" if results % 2 else "c"};
                ${f.name}_pair(xs, w + ${times("g", k.group_weights)} + ${times("c", k.pairs * step // 2) if k.pairs * step % 2 == 0 else f"c / 2 * {k.pairs * step}"}, ${k.bias_name} + channel, ${q.arguments("channel")}to + (channel - ${times("g", results)}));
            }
% endif
        }
    }
}
