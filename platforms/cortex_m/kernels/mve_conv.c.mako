<%
h, w = k.h, k.w
row = w.kernel * k.channels
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
last = k.pixels - 1
%>\
<%def name="run(source, length, at=0)">
% for i in range(0, length, 16):
            vstrbq_s8(to + ${at + i}, ${f"vldrbq_s8({source} + {i})" if length - i >= 16 else f"vldrbq_z_s8({source} + {i}, vctp8q({length - i}u))"});
% endfor
</%def>\
% if not k.direct:
/* Gathers the inputs of one pixel. */
TILEWRIGHT_MVE void ${f.name}_gather(const int8_t *x, int8_t *to, int top, int left)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int ih = top + kh * ${h.dilation};
        const int row_inside = ih >= 0 && ih < ${h.size};
% if w.dilation == 1:
        if (row_inside && left >= 0 && left <= ${w.size - w.kernel}) {
            const int8_t *const s = x + ih * ${h.x_stride} + left * ${w.x_stride};
${run("s", row)}\
            to += ${row};
            continue;
        }
% endif
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int iw = left + kw * ${w.dilation};
            if (row_inside && iw >= 0 && iw < ${w.size}) {
                const int8_t *const s = x + ih * ${h.x_stride} + iw * ${w.x_stride};
${run("s", k.channels)}\
            } else {
                for (int i = 0; i < ${k.channels}; i += 16) {
                    vstrbq_s8(to + i, vdupq_n_s8(${k.zero_point}));
                }
            }
            to += ${k.channels};
        }
    }
}

% endif
TILEWRIGHT_MVE_PIXELS(${f.name}_pixels, ${1 if k.own else 0}, "${k.depth // 16}")

static void ${f.name}(${f.parameters})
{
% if not k.direct:
    int8_t *const patch = scratch;
% endif
    for (int p = 0; p < ${k.pixels}; p += 4) {
        const int at = p < ${max(k.pixels - 4, 0)} ? p : ${max(k.pixels - 4, 0)};
        const int8_t *sources[4];
        uint32_t offsets[4];
% if not k.direct:
        int top[4];
        int left[4];
% endif
        for (int j = 0; j < 4; j++) {
            const int pixel = ${"at + j" if k.pixels >= 4 else f"j < {last} ? j : {last}"};
            offsets[j] = (uint32_t)pixel * ${k.out_channels}u;
% if k.direct:
            sources[j] = x + pixel * ${k.channels};
% else:
            const int oh = pixel / ${w.out};
            top[j] = oh * ${h.stride} - ${h.pad};
            left[j] = (pixel - oh * ${w.out}) * ${w.stride} - ${w.pad};
            sources[j] = patch + j * ${k.depth};
% endif
        }
% if not k.direct:
        for (int j = 0; j < 4; j++) {
            int8_t *to = patch + j * ${k.depth};
% if w.dilation == 1:
            if (top[j] >= 0 && top[j] <= ${h.size - (h.kernel - 1) * h.dilation - 1} && left[j] >= 0 && left[j] <= ${w.size - (w.kernel - 1) * w.dilation - 1}) {
                const int8_t *const s = x + top[j] * ${h.x_stride} + left[j] * ${w.x_stride};
% for kh in range(h.kernel):
${run(f"s + {kh * h.dilation * h.x_stride}", row, kh * row)}\
% endfor
                continue;
            }
% endif
            ${f.name}_gather(x, to, top[j], left[j]);
        }
% endif
% if k.sparse:
        for (int j = 0; j < 4; j++) {
            memcpy(${y} + offsets[j], fill, ${k.out_channels});
        }
% endif
        ${f.name}_pixels(sources, (const int8_t *)w, table, ${y} + ${k.first}, offsets, ${k.pairs}, codes);
    }
}
