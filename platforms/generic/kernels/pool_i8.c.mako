<%
h, w, C = k.h, k.w, k.channels
row, column = h.dilation * h.x_stride, w.dilation * w.x_stride
clipped = h.inner_first > 0 or h.inner_last < h.out
inner = w.inner_last > w.inner_first and (not clipped or h.inner_last > h.inner_first)
whole = inner and bool(k.taps) and k.lanes == 1
borders = clipped or w.inner_first > 0 or w.inner_last < w.out or not whole
many = len(k.codes) > 1
count = h.kernel * w.kernel
text_of = dict(k.codes)

def chain(codes):
    text = codes[-1][1]
    for points, form in reversed(codes[:-1]):
        text = f"points == {points} ? {form} : {text}"
    return text

def stored(codes, to):
    if k.largest:
        return [f"{to} = ({k.y_type})acc;"]
    return [
        f"int32_t code = {chain(codes)};", f"code = code < {k.low} ? {k.low} : code;",
        f"{to} = ({k.y_type})(code > {k.high} ? {k.high} : code);",
    ]
%>\
% if borders:
/* One result of every channel from some rows and columns${", of which so many points count" if many else ""}. */
${f.storage} void ${f.name}_window(const ${k.x_type} *x, ${k.y_type} *y, int rows, int columns${", int points" if many else ""})
{
% if k.lanes > 1:
    for (int c = 0; c < ${C}; c += ${k.lanes}) {
        const int width = ${C} - c < ${k.lanes} ? ${C} - c : ${k.lanes};
% if k.largest:
        tilewright_${k.vectors}_largest_${k.suffix}(x + c, y + c, rows, ${row}, columns, ${column}, width);
% else:
        int32_t sums[${k.lanes}];
        tilewright_${k.vectors}_sums_${k.suffix}(x + c, sums, rows, ${row}, columns, ${column}, width);
        for (int i = 0; i < width; i++) {
            const int32_t acc = sums[i]${f" - (int32_t)rows * columns * {k.zero}" if k.zero else ""};
% for line in stored(k.codes, "y[c + i]"):
            ${line}
% endfor
        }
% endif
    }
% else:
    for (int c = 0; c < ${C}; c++) {
        const ${k.x_type} *line = x + c;
        int32_t acc = ${"line[0]" if k.largest else f"(int32_t)rows * columns * {-k.zero}" if k.zero else "0"};
        for (int r = rows; r > 0; r--) {
            const ${k.x_type} *at = line;
            for (int n = columns; n > 0; n--) {
% if k.largest:
                acc = *at > acc ? *at : acc;
% else:
                acc += *at;
% endif
                at += ${column};
            }
            line = &line[${row}];
        }
% for line in stored(k.codes, "y[c]"):
        ${line}
% endfor
    }
% endif
}

% endif
% if whole:
/* One result of every channel from a whole window. */
${f.storage} void ${f.name}_whole(const ${k.x_type} *x, ${k.y_type} *y)
{
    for (int c = 0; c < ${C}; c++) {
% if k.largest:
        int32_t acc = x[c];
% for tap in k.taps[1:]:
        acc = x[c + ${tap}] > acc ? x[c + ${tap}] : acc;
% endfor
% else:
        const int32_t acc = ${" + ".join(["(int32_t)x[c]" if tap == 0 else f"x[c + {tap}]" for tap in k.taps])}${f" - {k.zero * count}" if k.zero > 0 else f" + {-k.zero * count}" if k.zero else ""};
% endif
% for line in stored([(count, text_of[count])] if count in text_of else k.codes, "y[c]"):
        ${line}
% endfor
    }
}

% endif
% if k.images > 1:
/* One picture of several. */
${f.storage} void ${f.name}_picture(const ${k.x_type} *x, ${k.y_type} *y)
% else:
${f.storage} void ${f.name}(${f.parameters})
% endif
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int top = ${plus(times("oh", h.stride), -h.pad)};
% if borders:
        const int kh_first = tilewright_pool_first(top, ${h.dilation});
        const int rows = tilewright_pool_last(top, ${h.size}, ${h.kernel}, ${h.dilation}) - kh_first;
% if many:
        const int high = ${f"tilewright_pool_last(top, {h.size + k.ends[0]}, {h.kernel}, {h.dilation})" if k.counted else "rows"};
% endif
        const ${k.x_type} *const xr = x + (top + ${times("kh_first", h.dilation)}) * ${h.x_stride};
% else:
        const ${k.x_type} *const xr = x + top * ${h.x_stride};
% endif
        ${k.y_type} *const yr = y + ${times("oh", w.out * C)};
        for (int ow = 0; ow < ${w.out}; ow++) {
            const int left = ${plus(times("ow", w.stride), -w.pad)};
% if whole and borders:
            if (rows == ${h.kernel} && ow >= ${w.inner_first} && ow < ${w.inner_last}) {
                ${f.name}_whole(xr + left * ${w.x_stride}, yr + ${times("ow", C)});
                continue;
            }
% elif whole:
            ${f.name}_whole(xr + left * ${w.x_stride}, yr + ${times("ow", C)});
% endif
% if borders:
            const int kw_first = tilewright_pool_first(left, ${w.dilation});
            const int columns = tilewright_pool_last(left, ${w.size}, ${w.kernel}, ${w.dilation}) - kw_first;
% if many:
            const int wide = ${f"tilewright_pool_last(left, {w.size + k.ends[1]}, {w.kernel}, {w.dilation})" if k.counted else "columns"};
% endif
            ${f.name}_window(xr + (left + ${times("kw_first", w.dilation)}) * ${w.x_stride}, yr + ${times("ow", C)}, rows, columns${", high * wide" if many else ""});
% endif
        }
    }
}
% if k.images > 1:

${f.storage} void ${f.name}(${f.parameters})
{
    for (int image = 0; image < ${k.images}; image++) {
        ${f.name}_picture(x + image * ${h.size * w.size * C}, y + image * ${h.out * w.out * C});
    }
}
% endif
