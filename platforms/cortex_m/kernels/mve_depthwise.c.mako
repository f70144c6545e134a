<%
h, w = k.h, k.w
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
%>\
static void ${f.name}(${f.parameters})
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int top = oh * ${h.stride} - ${h.pad};
        for (int ow = 0; ow < ${w.out}; ow++) {
            const int left = ow * ${w.stride} - ${w.pad};
            const int8_t *taps[9];
% if k.padded:
            if (oh >= ${h.inner_first} && oh < ${h.inner_last} && ow >= ${w.inner_first} && ow < ${w.inner_last}) {
% else:
            {
% endif
                const int8_t *const s = x + top * ${h.x_stride} + left * ${w.x_stride};
% for tap in range(9):
                taps[${tap}] = s + ${tap // 3 * h.dilation * h.x_stride + tap % 3 * w.dilation * w.x_stride};
% endfor
            }
% if k.padded:
            else {
                for (int tap = 0; tap < 9; tap++) {
                    const int ih = top + tap / 3 * ${h.dilation};
                    const int iw = left + tap % 3 * ${w.dilation};
                    const int inside = ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size};
                    taps[tap] = inside ? x + ih * ${h.x_stride} + iw * ${w.x_stride} : pad;
                }
            }
% endif
            tilewright_mve_taps${"_own" if k.own else ""}(taps, (const int8_t *)w, table, ${y} + (oh * ${w.out} + ow) * ${k.channels}, ${k.channels // 16}, codes);
        }
    }
}
