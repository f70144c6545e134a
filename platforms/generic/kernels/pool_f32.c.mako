<%
h, w = k.h, k.w
row, column, pixel = h.dilation * h.x_stride, w.dilation * w.x_stride, w.stride * w.x_stride
inner = k.written_out and w.inner_last > w.inner_first
borders = [(0, w.inner_first), (w.inner_last, w.out)] if inner else [(0, w.out)]
borders = [(first, last) for first, last in borders if last > first]
clipped = h.inner_first > 0 or h.inner_last < h.out
rows = "rows" if clipped else h.kernel

def outdented(text):
    return text.removeprefix("    ").replace("\n    ", "\n")

def plane(tensor, steps):
    if k.images == 1:
        return f"{tensor} + {times('plane', steps[1])}"
    return f"{tensor} + plane / {k.channels} * {steps[0]} + plane % {k.channels} * {steps[1]}"

def largest_of(names):
    text = names[0]
    for name in names[1:]:
        text = f"tilewright_pool_larger({text}, {name})"
    return text
%>\
<%def name="tap(index)">\
% if k.largest:
v = tilewright_pool_larger(v, x[${index}]);\
% else:
v += x[${index}];\
% endif
</%def>\
% if borders:
/* The ${"largest" if k.largest else "sum"} of some rows and columns. */
${f.storage} inline float ${f.name}_part(const float *x, int rows, int columns)
{
    float v = ${"x[0]" if k.largest else "0.0f"};
    for (int kh = 0; kh < rows; kh++) {
        for (int kw = 0; kw < columns; kw++) {
            ${tap(f"{times('kh', row)} + {times('kw', column)}")}
        }
    }
    return v;
}

% endif
% if inner and clipped:
/* The ${"largest of one column" if k.largest else "sum"} of some rows. */
${f.storage} inline float ${f.name}_rows(const float *x, int rows)
{
    float v = ${"x[0]" if k.largest else "0.0f"};
    for (int kh = ${1 if k.largest else 0}; kh < rows; kh++) {
% for kw in range(1 if k.largest else w.kernel):
        ${tap(plus(times("kh", row), kw * column))}
% endfor
    }
    return v;
}

% endif
% if inner:
/* The ${"largest of one column" if k.largest else "sum"} of all rows. */
${f.storage} inline float ${f.name}_all(const float *x)
{
    float v = ${"x[0]" if k.largest else "0.0f"};
% for kh in range(1 if k.largest else 0, h.kernel):
% for kw in range(1 if k.largest else w.kernel):
    ${tap(kh * row + kw * column)}
% endfor
% endfor
    return v;
}

% endif
<%def name="whole_windows(function, more)">\
% if k.largest:
% for kw in range(k.shared):
                float c${kw} = ${function}(${plus("at", kw * column)}${more});
% endfor
% endif
                for (int ow = ${w.inner_first}; ow < ${w.inner_last}; ow++) {
% if k.largest:
% for kw in range(k.shared, w.kernel):
                    const float c${kw} = ${function}(${plus("at", kw * column)}${more});
% endfor
                    const float v = ${largest_of([f"c{kw}" for kw in range(w.kernel)])};
% else:
                    const float v = ${function}(at${more}) / points;
% endif
                    yr[${times("ow", k.y_steps[3])}] = ${k.clamp};
% if k.largest:
% for kw in range(k.shared):
                    c${kw} = c${kw + w.stride};
% endfor
% endif
                    at = &at[${pixel}];
                }
</%def>\
${f.storage} void ${f.name}(${f.parameters})
{
    for (int plane = 0; plane < ${k.images * k.channels}; plane++) {
        const float *const xp = ${plane("x", k.x_steps)};
        float *const yp = ${plane("y", k.y_steps)};
        for (int oh = 0; oh < ${h.out}; oh++) {
% if clipped:
            const int top = ${plus(times("oh", h.stride), -h.pad)};
            const int kh_first = tilewright_pool_first(top, ${h.dilation});
            const int rows = tilewright_pool_last(top, ${h.size}, ${h.kernel}, ${h.dilation}) - kh_first;
            const float *const xr = ${added("xp", times(f"(top + {times('kh_first', h.dilation)})", h.x_stride))};
% else:
            const float *const xr = ${added("xp", times("oh", h.stride * h.x_stride))};
% endif
% if not k.largest:
            const int high = ${f"tilewright_pool_last(top, {h.size + k.ends[0]}, {h.kernel}, {h.dilation})" if k.counted and clipped else rows};
% endif
            float *const yr = ${added("yp", times("oh", k.y_steps[2]))};
% for first, last in borders:
            for (int ow = ${first}; ow < ${last}; ow++) {
                const int left = ${plus(times("ow", w.stride), -w.pad)};
                const int kw_first = tilewright_pool_first(left, ${w.dilation});
                const int columns = tilewright_pool_last(left, ${w.size}, ${w.kernel}, ${w.dilation}) - kw_first;
                const float *const at = ${added("xr", times(f"(left + {times('kw_first', w.dilation)})", w.x_stride))};
% if k.largest:
                const float v = ${f.name}_part(at, ${rows}, columns);
% else:
                const int wide = ${f"tilewright_pool_last(left, {w.size + k.ends[1]}, {w.kernel}, {w.dilation})" if k.counted else "columns"};
                const int points = high * wide;
                const float v = ${f.name}_part(at, ${rows}, columns) / (float)points;
% endif
                yr[${times("ow", k.y_steps[3])}] = ${k.clamp};
            }
% endfor
% if inner:
            const float *at = ${plus("xr", (w.inner_first * w.stride - w.pad) * w.x_stride)};
% if not k.largest:
            const int elements = ${times("high", w.kernel)};
            const float points = (float)elements;
% endif
% if clipped:
            if (rows < ${h.kernel}) {
${whole_windows(f"{f.name}_rows", ", rows")}\
            } else {
${whole_windows(f"{f.name}_all", "")}\
            }
% else:
${outdented(capture(whole_windows, f"{f.name}_all", ""))}\
% endif
% endif
        }
    }
}
