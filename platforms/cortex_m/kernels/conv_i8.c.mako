<%
h, w, b, c = k.h, k.w, k.at_once, k.codes
widen = f"tilewright_widen{b}{'_unsigned' if k.unsigned else ''}"
row = w.kernel * k.channels
sparse = "_sparse" in c.form
x = "x" if k.x_type == "int8_t" else "(const int8_t *)x"
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
at = f"p < {k.pixels - b} ? p : {k.pixels - b}"
grouped = k.groups.count > 1
results = k.groups.results
even = results // 2 * 2
depth_words = k.depth // (2 if c.more_bits else 4)
%>\
% if k.way == "patch":
/* Copies the inputs of one pixel side by side. */
TILEWRIGHT_ONCE void ${f.name}_patch(const int8_t *x, int8_t *to, int top, int left)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int ih = top + ${times("kh", h.dilation)};
% if w.dilation == 1 and not grouped:
        if (ih >= 0 && ih < ${h.size} && left >= 0 && left <= ${w.size - w.kernel}) {
            const int8_t *const s = x + ${times("ih", h.x_stride)} + ${times("left", w.x_stride)};
% for i in range(0, row - 3, 4):
            (void)memcpy(${plus("to", i)}, ${plus("s", i)}, 4);
% endfor
% if row % 4 and row > 4:
            (void)memcpy(to + ${row - 4}, s + ${row - 4}, 4);
% elif row % 4:
% for i in range(row):
            to[${i}] = s[${i}];
% endfor
% endif
            to += ${row};
            continue;
        }
% endif
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int iw = left + ${times("kw", w.dilation)};
            const bool inside = ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size};
            if (inside) {
                (void)memcpy(to, x + ${times("ih", h.x_stride)} + ${times("iw", w.x_stride)}, ${k.channels});
            } else {
                (void)memset(to, ${k.zero_point}, ${k.channels});
            }
            to += ${k.channels};
        }
    }
% for i in range(h.kernel * row, k.depth):
    *to++ = 0;
% endfor
}

% endif
static void ${f.name}(${f.parameters})
{
    uint32_t *const xs = scratch;
% if k.way == "patch":
    int8_t *const patch = (int8_t *)scratch + ${2 * b * k.depth};
% endif
% if k.way == "direct":
    for (int p = 0; p < ${k.pixels}; p += ${b}) {
        const int at = ${at};
        const int8_t *const s = ${x} + ${times("at", k.channels)};
        const int8_t *const sources[${b}] = {${", ".join(f"s + {j * k.channels}" if j else "s" for j in range(b))}};
        ${widen}(sources, xs, ${k.depth // 4});
% else:
    for (int p = 0; p < ${k.pixels}; p += ${b}) {
        const int at = ${at};
% if k.way == "rows" or grouped:
        int top[${b}];
        int left[${b}];
% endif
% if k.way == "rows":
% if k.runs:
        int inside = 1;
% endif
% endif
        for (int j = 0; j < ${b}; j++) {
            const int oh = (at + j) / ${w.out};
            const int ow = at + j - oh * ${w.out};
% if k.way == "rows" or grouped:
            top[j] = ${plus(times("oh", h.stride), -h.pad)};
            left[j] = ${plus(times("ow", w.stride), -w.pad)};
% if k.padded and k.runs:
            inside &= (oh >= ${h.inner_first} && oh < ${h.inner_last} && ow >= ${w.inner_first} && ow < ${w.inner_last}) ? 1 : 0;
% endif
% else:
            ${f.name}_patch(${x}, patch + j * ${k.depth}, ${plus(times("oh", h.stride), -h.pad)}, ${plus(times("ow", w.stride), -w.pad)});
% endif
        }
% if k.way == "patch":
        const int8_t *const sources[${b}] = {${", ".join(f"patch + {j * k.depth}" if j else "patch" for j in range(b))}};
% if not grouped:
        ${widen}(sources, xs, ${k.depth // 4});
% endif
% else:
        uint32_t *put = xs;
% if k.runs:
        if (inside != 0) {
            const int8_t *sources[${b}];
            for (int j = 0; j < ${b}; j++) {
                sources[j] = ${x} + ${times("top[j]", h.x_stride)} + ${times("left[j]", w.x_stride)};
            }
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                ${widen}(sources, put, ${row // 4});
                put += ${row // 2 * b};
                for (int j = 0; j < ${b}; j++) {
                    sources[j] += ${h.dilation * h.x_stride};
                }
            }
        } else
% endif
        {
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                for (int kw = 0; kw < ${w.kernel}; kw++) {
                    const int8_t *taps[${b}];
                    for (int j = 0; j < ${b}; j++) {
                        const int ih = top[j] + ${times("kh", h.dilation)};
                        const int iw = left[j] + ${times("kw", w.dilation)};
% if k.padded:
                        taps[j] = ${"pad" if k.x_type == "int8_t" else "(const int8_t *)pad"};
                        if (ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size})
% endif
                        {
                            taps[j] = ${x} + ${times("ih", h.x_stride)} + ${times("iw", w.x_stride)};
                        }
                    }
                    ${widen}(taps, put, ${k.channels // 4});
                    put += ${k.channels // 2 * b};
                }
            }
        }
% endif
% endif
        int8_t *const to = ${y} + ${times("at", k.out_channels)};
% if sparse:
        for (int j = 0; j < ${b}; j++) {
            (void)memcpy(to + j * ${k.out_channels}, fill, ${k.out_channels});
        }
        tilewright_matrix${b}${c.form}(xs, w, table, ${plus("to", k.first)}, ${k.depth // 2}, ${k.last - k.first}, ${k.out_channels}, codes);
% elif grouped:
        for (int g = 0; g < ${k.groups.count}; g++) {
            for (int j = 0; j < ${b}; j++) {
                ${f.name}_patch(${x} + ${times("g", k.channels)}, patch + j * ${k.depth}, top[j], left[j]);
            }
            ${widen}(sources, xs, ${k.depth // 4});
            tilewright_matrix${b}${c.form}(xs, w + ${times("g", results * depth_words)}, table + ${times("g", results * c.table_step)}, to + ${times("g", results)}, ${k.depth // 2}, ${results}, ${k.out_channels}, codes);
        }
% else:
        tilewright_matrix${b}${c.form}(xs, w, table, to, ${k.depth // 2}, ${even}, ${k.out_channels}, codes);
% if k.out_channels % 2:
        tilewright_matrix${b}${c.form}(xs, w + ${even * depth_words}, table + ${even * c.table_step}, to + ${k.out_channels - 2}, ${k.depth // 2}, 2, ${k.out_channels}, codes);
% endif
% endif
    }
}
