<%
h, w, q, C = k.h, k.w, k.requantise, k.channels
many, one = k.pixels[0], k.pixels[-1]
rows_padded = h.inner_first > 0 or h.inner_last < h.out
%>\
<%def name="asm(lines, indent)">
% for line in lines:
${indent}"${line}\n\t"
% endfor
</%def>\
<%def name="missing(p, count)">\
        if (${count} > 0) {
            int taps = ${count};
            __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(p.missing, "                             ")}\
                             ".option pop"
                             : [w] "+&r"(w), [taps] "+&r"(taps) : [w_step] "r"(${C * k.w_bytes}), [zero] "r"(${k.zero}) : "memory");
        }
</%def>\
<%def name="row(p, columns)">\
            const ${k.x_type} *x0 = x;
% for i in range(1, p.count):
            const ${k.x_type} *x${i} = x + ${i * w.stride * w.x_stride};
% endfor
            int taps = ${columns};
            __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(p.taps, "                             ")}\
                             ".option pop"
                             : [w] "+&r"(w), [taps] "+&r"(taps), ${", ".join(f'[x{i}] "+&r"(x{i})' for i in range(p.count))}
                             : [w_step] "r"(${C * k.w_bytes}), [x_step] "r"(${w.dilation * w.x_stride * k.x_bytes}) : "memory");
</%def>\
<%def name="begin(p)">\
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(p.start, "                     ")}\
                     ".option pop"
                     : : [width] "r"(width), [b] "r"(b) : "memory");
</%def>\
<%def name="finish(p)">\
% if k.operands:
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(p.codes, "                     ")}\
                     ".option pop"
                     : [y] "+&r"(y)
                     : [width] "r"(width), [y_step] "r"(${C * k.y_bytes}), ${", ".join(f'[{name}] "r"({value})' for name, value in k.operands)}
                     : "memory");
% else:
    int32_t acc[${p.count}][${k.lanes}];
    int32_t *sums = &acc[0][0];
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
${asm(p.codes, "                     ")}\
                     ".option pop"
                     : [acc] "+&r"(sums)
                     : [width] "r"(width)
                     : "memory");
    for (int o = 0; o < width; o++) {
% for declaration in q.declarations("o"):
        ${declaration}
% endfor
        for (int p = 0; p < ${p.count}; p++) {
            int32_t code = ${q.code("acc[p][o]", "o", q.held)};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${times("p", C)} + o] = (${k.y_type})code;
        }
    }
% endif
</%def>\
% if many.count > 1:
/* ${many.count} pixels of a row whose windows have all columns; so many rows are missing above and below. */
static void ${f.name}_pixels(const ${k.x_type} *x, ${"int top, int bottom, " if rows_padded else ""}const ${k.w_type} *w, int width, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
${begin(many)}\
% if rows_padded:
    {
${missing(many, times("top", w.kernel))}\
    }
    for (int row = top; row < ${h.kernel} - bottom; row++) {
% else:
    for (int row = 0; row < ${h.kernel}; row++) {
% endif
        {
${row(many, w.kernel)}\
        }
        x = &x[${h.dilation * h.x_stride}];
    }
% if rows_padded:
    {
${missing(many, times("bottom", w.kernel))}\
    }
% endif
${finish(many)}\
}

% endif
% if many.count == 1 or w.inner_first > 0 or w.inner_last < w.out:
/* One pixel; so many rows and columns of its window are missing on each side. */
static void ${f.name}_pixel(const ${k.x_type} *x, int top, int bottom, int before, int behind, const ${k.w_type} *w, int width, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
${begin(one)}\
    {
${missing(one, times("top", w.kernel))}\
    }
    for (int row = top; row < ${h.kernel} - bottom; row++) {
${missing(one, "before")}\
        if (before + behind < ${w.kernel}) {
${row(one, f"{w.kernel} - before - behind")}\
        }
${missing(one, "behind")}\
        x = &x[${h.dilation * h.x_stride}];
    }
    {
${missing(one, times("bottom", w.kernel))}\
    }
${finish(one)}\
}

% endif
<%def name="missing_before(at, axis)">${at} < 0 ? ${f"({axis.dilation - 1} - {at}) / {axis.dilation}" if axis.dilation > 1 else f"-{at}"} : 0</%def>\
<%def name="missing_behind(at, axis)"><% last = axis.size - 1 - (axis.kernel - 1) * axis.dilation %>${at} > ${last} ? ${f"({plus(at, -last + axis.dilation - 1)}) / {axis.dilation}" if axis.dilation > 1 else plus(at, -last)} : 0</%def>\
static void ${f.name}(${f.parameters})
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int first_row = ${plus(times("oh", h.stride), -h.pad)};
% if rows_padded or k.padded or many.count == 1:
        int top = ${missing_before("first_row", h)};
        top = top < ${h.kernel} ? top : ${h.kernel};
        int bottom = ${missing_behind("first_row", h)};
        bottom = bottom < ${h.kernel} - top ? bottom : ${h.kernel} - top;
        const ${k.x_type} *const xr = x + (first_row + ${times("top", h.dilation)}) * ${h.x_stride};
% else:
        const ${k.x_type} *const xr = x + ${times("first_row", h.x_stride)};
% endif
        int ow = 0;
        while (ow < ${w.out}) {
            const int first_column = ${plus(times("ow", w.stride), -w.pad)};
            ${k.y_type} *const to = y + (${times("oh", w.out)} + ow) * ${C};
% if many.count > 1:
<% guard = [] %>\
% if w.inner_first > 0:
<% guard.append(f"ow >= {w.inner_first}") %>\
% endif
% if w.inner_last < w.out:
<% guard.append(f"ow < {w.inner_last}") %>\
% endif
% if guard:
            if (${" && ".join(guard)}) {
% else:
            {
% endif
                const int back = ow > ${w.inner_last - many.count} ? ow - ${w.inner_last - many.count} : 0; /* a last block lies over the one before */
                const ${k.x_type} *const from = xr + (first_column - ${times("back", w.stride)}) * ${w.x_stride};
                for (int c = 0; c < ${C}; c += ${k.lanes}) {
                    ${f.name}_pixels(from + c, ${"top, bottom, " if rows_padded else ""}w + c, ${C} - c < ${k.lanes} ? ${C} - c : ${k.lanes}, b + c, ${q.arguments("c")}to - ${times("back", C)} + c);
                }
                ow += ${many.count} - back;
% if guard:
                continue;
% endif
            }
% endif
% if many.count == 1 or w.inner_first > 0 or w.inner_last < w.out:
            int before = ${missing_before("first_column", w)};
            before = before < ${w.kernel} ? before : ${w.kernel};
            int behind = ${missing_behind("first_column", w)};
            behind = behind < ${w.kernel} - before ? behind : ${w.kernel} - before;
            const ${k.x_type} *const from = xr + (first_column + ${times("before", w.dilation)}) * ${w.x_stride};
            for (int c = 0; c < ${C}; c += ${k.lanes}) {
                ${f.name}_pixel(from + c, top, bottom, before, behind, w + c, ${C} - c < ${k.lanes} ? ${C} - c : ${k.lanes}, b + c, ${q.arguments("c")}to + c);
            }
            ow++;
% endif
        }
    }
}
