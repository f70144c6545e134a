<%
h, w, C = k.h, k.w, k.channels
many = k.counts[0]
%>\
<%def name="missing_before(at, axis)">${at} < 0 ? ${f"({axis.dilation - 1} - {at}) / {axis.dilation}" if axis.dilation > 1 else f"-{at}"} : 0</%def>\
<%def name="missing_behind(at, axis)"><% last = axis.size - 1 - (axis.kernel - 1) * axis.dilation %>${at} > ${last} ? ${f"({plus(at, -last + axis.dilation - 1)}) / {axis.dilation}" if axis.dilation > 1 else plus(at, -last)} : 0</%def>\
% for count in k.counts:
/* ${count} pixel${"s of a row" if count > 1 else ""}: so many rows and columns of the window lie inside of the image. */
static void ${f.name}_pixels${count}(const float *x, int rows, int columns, const float *w, int width, const float *b, float *y)
{
    const int skip = (${w.kernel} - columns) * ${C};
    __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m${k.group}, ta, ma\n\t"
% for sums in k.sums[:count]:
                     "vle32.v ${sums}, (%[b])\n\t"
% endfor
                     ".option pop" : : [width] "r"(width), [b] "r"(b) : "memory");
    for (int row = 0; row < rows && columns > 0; row++) {
% for i in range(count):
        const float *x${i} = ${plus("x", i * w.stride * w.x_stride)};
% endfor
        int taps = columns;
        __asm__ volatile(".option push\n\t.option arch, +v\n\t1:\n\t"
                         "vle32.v ${k.weights}, (%[w])\n\tadd %[w], %[w], %[w_step]\n\taddi %[taps], %[taps], -1\n\t"
% for i, sums in zip(range(count), k.sums):
                         "vle32.v v0, (%[x${i}])\n\tadd %[x${i}], %[x${i}], %[x_step]\n\tvfmacc.vv ${sums}, ${k.weights}, v0\n\t"
% endfor
                         "bnez %[taps], 1b\n\t.option pop"
                         : [w] "+&r"(w), [taps] "+&r"(taps), ${", ".join(f'[x{i}] "+&r"(x{i})' for i in range(count))}
                         : [w_step] "r"(${4 * C}), [x_step] "r"(${4 * w.dilation * w.x_stride}) : "memory");
        w = &w[skip];
        x = &x[${h.dilation * h.x_stride}];
    }
% for name, beyond, limit in (("low", "vmflt.vf", k.low), ("high", "vmfgt.vf", k.high)):
% if "HUGE_VALF" not in limit:
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
% for sums in k.sums[:count]:
                     "${beyond} v0, ${sums}, %[limit]\n\tvfmerge.vfm ${sums}, ${sums}, %[limit], v0\n\t"
% endfor
                     ".option pop" : : [limit] "f"(${limit}));
% endif
% endfor
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
% for sums in k.sums[:count]:
                     "vse32.v ${sums}, (%[y])\n\tadd %[y], %[y], %[y_step]\n\t"
% endfor
                     ".option pop" : [y] "+&r"(y) : [y_step] "r"(${4 * C}) : "memory");
}

% endfor
static void ${f.name}(${f.parameters})
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int first_row = ${plus(times("oh", h.stride), -h.pad)};
        int top = ${missing_before("first_row", h)};
        top = top < ${h.kernel} ? top : ${h.kernel};
        int bottom = ${missing_behind("first_row", h)};
        bottom = bottom < ${h.kernel} - top ? bottom : ${h.kernel} - top;
        const int rows = ${h.kernel} - top - bottom;
        const float *const xr = x + (first_row + ${times("top", h.dilation)}) * ${h.x_stride};
        const float *const wr = w + top * ${w.kernel * C};
        int ow = 0;
        while (ow < ${w.out}) {
            const int first_column = ${plus(times("ow", w.stride), -w.pad)};
            float *const to = y + (${times("oh", w.out)} + ow) * ${C};
% if many > 1:
            if (ow >= ${w.inner_first} && ow < ${w.inner_last}) {
                const int back = ow > ${w.inner_last - many} ? ow - ${w.inner_last - many} : 0; /* a last block lies over the one before */
                const float *const from = xr + (first_column - ${times("back", w.stride)}) * ${w.x_stride};
                for (int c = 0; c < ${C}; c += ${k.lanes}) {
                    ${f.name}_pixels${many}(from + c, rows, ${w.kernel}, wr + c, ${C} - c < ${k.lanes} ? ${C} - c : ${k.lanes}, b + c, to - ${times("back", C)} + c);
                }
                ow += ${many} - back;
                continue;
            }
% endif
            int before = ${missing_before("first_column", w)};
            before = before < ${w.kernel} ? before : ${w.kernel};
            int behind = ${missing_behind("first_column", w)};
            behind = behind < ${w.kernel} - before ? behind : ${w.kernel} - before;
            const float *const from = xr + (first_column + ${times("before", w.dilation)}) * ${w.x_stride};
            for (int c = 0; c < ${C}; c += ${k.lanes}) {
                ${f.name}_pixels1(from + c, rows, ${w.kernel} - before - behind, wr + ${times("before", C)} + c, ${C} - c < ${k.lanes} ? ${C} - c : ${k.lanes}, b + c, to + c);
            }
            ow++;
        }
    }
}
