<%
h, w = k.h, k.w
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
row = w.size * k.channels
rows_padded = h.inner_first > 0 or h.inner_last < h.out
columns_padded = w.inner_first > 0 or w.inner_last < w.out
%>\
static void ${f.name}(${f.parameters})
{
% if k.in_place:
    int8_t *const kept = scratch;
% endif
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int8_t *rows[3];
% if k.in_place:
        /* The result may lie over the input: the row that it overwrites is kept aside, and the one before. */
        tilewright_mve_run(kept + oh % 2 * ${row}, x + oh * ${row}, ${row});
        rows[0] = oh > 0 ? kept + (oh + 1) % 2 * ${row} : 0;
        rows[1] = kept + oh % 2 * ${row};
        rows[2] = oh + 1 < ${h.size} ? x + (oh + 1) * ${row} : 0;
% else:
        for (int kh = 0; kh < 3; kh++) {
            const int ih = oh * ${h.stride} - ${h.pad} + kh * ${h.dilation};
            rows[kh] = ih >= 0 && ih < ${h.size} ? x + ih * ${h.x_stride} : 0;
        }
% endif
        for (int ow = 0; ow < ${w.out}; ow++) {
            const int left = ow * ${w.stride} - ${w.pad};
            const int8_t *taps[9];
% for kw in range(3):
            const int at${kw} = (left + ${kw * w.dilation}) * ${w.x_stride};
% if columns_padded:
            const int in${kw} = left + ${kw * w.dilation} >= 0 && left + ${kw * w.dilation} < ${w.size};
% endif
% for kh in range(3):
<% guards = ([f"in{kw}"] if columns_padded else []) + ([f"rows[{kh}]"] if rows_padded else []) %>\
            taps[${3 * kh + kw}] = ${f"{' && '.join(guards)} ? rows[{kh}] + at{kw} : pad" if guards else f"rows[{kh}] + at{kw}"};
% endfor
% endfor
            tilewright_mve_taps${"_own" if k.own else ""}(taps, (const int8_t *)w, table, ${y} + (oh * ${w.out} + ow) * ${k.channels}, ${k.channels // 16}, codes);
        }
    }
}
