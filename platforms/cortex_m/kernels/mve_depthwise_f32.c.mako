<%
h, w, row = k.h, k.w, k.row
last = w.out - row.columns
sums = [f"s{j}" for j in range(row.columns)]
rows_padded = h.inner_first > 0 or h.inner_last < h.out
group = 4 * (1 + h.kernel * w.kernel)
outputs = ", ".join([f'[{s}] "=&t"({s})' for s in sums] + [f'[{t}] "=&t"({t})' for t in row.registers])
inputs = ['[rows] "r"(end - first)', f'[next] "r"({4 * h.dilation * h.x_stride - sum(step.onward for step in row.steps)})']
if rows_padded:
    inputs.append(f'[skipped] "r"(first * {16 * w.kernel})')
%>\
<%def name="walked(step, test, indent)">\
<% near = step.onward if abs(step.onward) <= k.near else 0 %>\
% if test:
${indent}    "vldr P0, [%[masks], #${4 * k.tests.index(test)}]\n\tvpst\n\t"
% endif
${indent}    "vldrw${"t" if test else ""}.u32 %q[${step.register}], [%[from]]${f", #{near}" if near else ""}\n\t"
% for far in k.parts(step.onward - near):
${indent}    "${"addw" if far > 0 else "subw"} %[from], %[from], #${abs(far)}\n\t"
% endfor
</%def>\
<%def name="window(tested, indent)">\
${indent}__asm__ volatile(
${indent}    "vldrw.32 %q[s0], [%[w]], #16\n\t${"".join(f"vmov %q[{s}], %q[s0]\\n\\t" for s in sums[1:])}"
% if rows_padded:
${indent}    "add %[w], %[w], %[skipped]\n\t"
% endif
${indent}    "wls lr, %[rows], 2f\n\t1:\n\t"
% for step in row.steps:
% if step.is_weight:
${indent}    "vldrw.32 %q[${step.register}], [%[w]], #16\n\t"
% else:
${walked(step, tested and step.test, indent)}\
% endif
% for total, value, weight in step.products:
${indent}    "vfma.f32 %q[${total}], %q[${value}], %q[${weight}]\n\t"
% endfor
% endfor
${indent}    "add %[from], %[from], %[next]\n\tle lr, 1b\n\t2:\n\t"
${indent}    : ${outputs}, [from] "+r"(from), [w] "+r"(weights)
${indent}    : ${", ".join(inputs + (['[masks] "r"(masks)'] if tested else []))}
${indent}    : "memory", "lr"${', "p0"' if tested else ""});
</%def>\
/* Neighbouring results of all channels, four at a time. */
TILEWRIGHT_MVE void ${f.name}_tile(const float *x, const float *w, float *y, int top, int left)
{
% if rows_padded:
    int first = 0;
    int end = ${h.kernel};
    while (first < end && top + ${times("first", h.dilation)} < 0) {
        first++;
    }
    while (end > first && top + ${times("(end - 1)", h.dilation)} >= ${h.size}) {
        end--;
    }
    x = ${added("x", times(f"(top + {times('first', h.dilation)})", h.x_stride), times("left", w.x_stride))};
% else:
% if not h.x_stride:
    (void)top; /* there is one row */
% endif
    const int first = 0;
    const int end = ${h.kernel};
    x = ${added("x", times("top", h.x_stride), times("left", w.x_stride))};
% endif
% if k.tests:
    /* Columns that lie inside of the image. */
    const uint32_t masks[${len(k.tests)}] = {${", ".join(f"{test} ? 0xffffu : 0u" for test in k.tests)}};
% endif
    int channels = ${k.channels};
    for (;;) {
        float32x4_t ${", ".join(sums + list(row.registers))};
        const float *weights = w;
        const float *from = x;
% if k.inner:
        if (${k.inner}) {
${window(False, "            ")}\
        } else {
${window(True, "            ")}\
        }
% else:
${window(False, "        ")}\
% endif
        float *to = y;
        float32x4_t v;
% for total in sums:
        v = ${total};
        vstrwq_f32(to, ${k.clamp});
% if not loop.last:
        to = &to[${k.channels}];
        TILEWRIGHT_MVE_FORGET(to);
% endif
% endfor
        channels -= 4;
        if (channels <= 0) {
            break;
        }
        const int step = ${"channels < 4 ? channels : 4" if k.channels % 4 else "4"};
        w = &w[${group}];
        x = &x[step];
        y = &y[step];
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        for (int p = 0; p < ${w.out}; p += ${row.columns}) {
            const int ow = ${f"p < {last} ? p : {last}" if w.out % row.columns else "p"};
            ${f.name}_tile(x, w, y + ${times(f"({times('oh', w.out)} + ow)", k.channels)}, ${plus(times("oh", h.stride), -h.pad)}, ${plus(times("ow", w.stride), -w.pad)});
        }
    }
}
