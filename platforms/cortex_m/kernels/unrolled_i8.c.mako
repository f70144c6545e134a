<%
h, w, b = k.h, k.w, k.at_once
direct, copied = k.way == "direct", k.way == "patch" and k.padded
signed = 0 if k.unsigned else 1
words = k.steps // k.runs
kind = "_unsigned" if k.unsigned_result else ""
form = "_paired" if k.paired else "_wide"
even = k.out_channels // 2 * 2
x = "x" if k.x_type == "int8_t" else "(const int8_t *)x"
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
lines, per_line = (h.kernel, w.kernel) if k.way == "taps" else (1, k.runs)
pitch = w.dilation * w.x_stride if k.way == "taps" else h.dilation * h.x_stride
tests = [f"{name} {sign} {limit}" for name, axis in (("top", h), ("left", w)) for sign, limit, needed in ((">=", 0, axis.inner_first > 0), ("<=", axis.size - 1 - (axis.kernel - 1) * axis.dilation, axis.inner_last < axis.out)) if needed]
zeros = (k.zero_point & 0xFFFF) * 0x10001
%>\
<%def name="runs(body)">
% if lines > 1:
    for (int kh = 0; kh < ${lines}; kh++, line += ${h.dilation * h.x_stride}) {
        const int8_t *s = line;
% endif
        for (int run = 0; run < ${per_line}; run++, s += ${pitch}) {
${body()}\
        }
% if lines > 1:
    }
% endif
</%def>\
<%def name="one_pixel()">
            tilewright_widen_one(${b}, ${signed}, ${k.run}, s, to);
            to += ${words * b};
</%def>\
<%def name="block()">
            const int8_t *sources[4] = {${", ".join(f"s + {j * w.stride * w.x_stride}" if j else "s" for j in range(b))}};
            put = tilewright_widen_run(${b}, ${signed}, ${k.run}, sources, put);
</%def>\
% if not direct:
/* Widens the inputs of one pixel, zero points where its window leaves the input. */
TILEWRIGHT_ONCE void ${f.name}_pixel(const int8_t *x, int top, int left, uint32_t *to${", int8_t *copy" if copied else ""})
{
    const int8_t *${"line" if lines > 1 else "s"} = x + top * ${h.x_stride} + left * ${w.x_stride};
% if tests:
    if (!(${" && ".join(tests)})) {
% if copied:
        const int first = left < 0 ? -left * ${k.channels} : 0;
        const int last = left > ${w.size - w.kernel} ? (${w.size} - left) * ${k.channels} : ${k.run};
        for (int kh = 0; kh < ${h.kernel}; kh++) {
            const int ih = top + kh * ${h.dilation};
            int8_t *const row = copy + kh * ${k.run};
            const int8_t *const from = x + ih * ${h.x_stride} + left * ${w.x_stride};
            const int begin = ih >= 0 && ih < ${h.size} ? first : ${k.run};
            int i = 0;
            for (; i < begin; i++) {
                row[i] = (int8_t)${k.zero_point};
            }
            for (; i < last; i++) {
                row[i] = from[i];
            }
            for (; i < ${k.run}; i++) {
                row[i] = (int8_t)${k.zero_point};
            }
            tilewright_widen_one(${b}, ${signed}, ${k.run}, row, to);
            to += ${words * b};
        }
% else:
        for (int kh = 0; kh < ${h.kernel}; kh++) {
            const int ih = top + kh * ${h.dilation};
            for (int kw = 0; kw < ${w.kernel}; kw++) {
                const int iw = left + kw * ${w.dilation};
                if (ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size}) {
                    tilewright_widen_one(${b}, ${signed}, ${k.channels}, x + ih * ${h.x_stride} + iw * ${w.x_stride}, to);
                } else {
                    for (int i = 0; i < ${(k.channels + 1) // 2}; i++) {
                        to[i * ${b}] = ${zeros}u;
                    }
                }
                to += ${(k.channels + 1) // 2 * b};
            }
        }
% endif
        return;
    }
% endif
${runs(one_pixel)}\
}

% endif
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    uint32_t *const xs = scratch;
    tilewright_unrolled_frame frame = {codes[0], ${y}, xs, ${y}, xs + ${k.steps * b}};
    for (int p = 0; p < ${k.pixels}; p += ${b}) {
        const int at = p < ${k.pixels - b} ? p : ${k.pixels - b};
% if direct:
        const int8_t *const s = ${x} + at * ${k.channels};
        const int8_t *sources[4] = {${", ".join(f"s + {j * k.channels}" if j else "s" for j in range(b))}};
        tilewright_widen_run(${b}, ${signed}, ${k.run}, sources, xs);
% else:
% if h.out == 1:
        const int oh = 0;
        const int ow = at;
% else:
        const int oh = at / ${w.out};
        const int ow = at - oh * ${w.out};
% endif
        if (${f"oh >= {h.inner_first} && oh < {h.inner_last} && " if h.inner_first > 0 or h.inner_last < h.out else ""}ow >= ${w.inner_first} && ow <= ${w.inner_last - b}) {
            const int8_t *${"line" if lines > 1 else "s"} = ${x} + (oh * ${h.stride} - ${h.pad}) * ${h.x_stride} + (ow * ${w.stride} - ${w.pad}) * ${w.x_stride};
            uint32_t *put = xs;
${runs(block)}\
        } else {
            for (int j = 0; j < ${b}; j++) {
                const int row = (at + j) / ${w.out};
                const int column = at + j - row * ${w.out};
                ${f.name}_pixel(${x}, row * ${h.stride} - ${h.pad}, column * ${w.stride} - ${w.pad}, xs + j${f", (int8_t *)(xs + {k.steps * b})" if copied else ""});
            }
        }
% endif
        frame.y = ${y} + at * ${k.out_channels};
        frame.last = frame.y + ${even};
        const uint32_t *rest = tilewright_pairs${b}${form}${kind}(${k.steps}, ${k.shift}, ${k.out_channels}, w, &frame);
% if k.out_channels % 2:
        frame.last = frame.y + 1;
        rest = tilewright_one${b}${kind}(${k.steps}, ${k.shift}, ${k.out_channels}, rest, &frame);
% endif
        (void)rest;
    }
}
