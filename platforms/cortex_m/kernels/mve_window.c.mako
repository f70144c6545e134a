<%
h, w = k.h, k.w
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
rows_padded = h.inner_first > 0 or h.inner_last < h.out
columns_padded = w.inner_first > 0 or w.inner_last < w.out
first, last = min(w.inner_first, w.out), max(w.inner_last, min(w.inner_first, w.out))
call = f"tilewright_mve_window{'_own' if k.own else ''}"
%>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    const int8_t **const taps = (const int8_t **)scratch;
% if 2 * k.pairs > h.kernel * w.kernel:
    taps[${2 * k.pairs - 1}] = x;
% endif
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int top = oh * ${h.stride} - ${h.pad};
        int8_t *const to = ${y} + oh * ${w.out * k.channels};
% if rows_padded:
        const bool inside = top >= 0 && top + ${(h.kernel - 1) * h.dilation} < ${h.size};
% endif
        for (int ow = 0; ow < ${w.out}; ow++) {
            const int left = ow * ${w.stride} - ${w.pad};
            int32_t at = 0;
% if rows_padded or columns_padded:
            if (${f"!inside || " if rows_padded else ""}ow <= ${first} || ow >= ${last}) {
% else:
            if (ow == 0) {
% endif
                for (int kh = 0; kh < ${h.kernel}; kh++) {
                    const int ih = top + kh * ${h.dilation};
                    for (int kw = 0; kw < ${w.kernel}; kw++) {
                        const int iw = left + kw * ${w.dilation};
% if rows_padded or columns_padded:
                        const int there = ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size};
                        taps[kh * ${w.kernel} + kw] = there ? x + ih * ${h.x_stride} + iw * ${w.x_stride} : pad;
% else:
                        taps[kh * ${w.kernel} + kw] = x + ih * ${h.x_stride} + iw * ${w.x_stride};
% endif
                    }
                }
            } else {
                at = (ow - ${first}) * ${w.stride * w.x_stride};
            }
            ${call}(taps, at, stream, to + ow * ${k.channels}, codes);
        }
    }
}
