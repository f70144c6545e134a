<%
h, w = k.h, k.w
%>\
<%def name="kernel(block)">
${k.attribute} ${f.storage} void ${f.name}_border${block.width}(const float *${f.restrict}x, int base, const float *${f.restrict}w, ${f"const float *{f.restrict}b, " if k.bias else ""}float *${f.restrict}y, int kh_first, int kh_last, int kw_first, int kw_last)
{
    float acc[${block.width}];
    for (int o = 0; o < ${block.width}; o++) {
        acc[o] = ${"b[o]" if k.bias else "0.0f"};
    }
    for (int kh = kh_first; kh < kh_last; kh++) {
        for (int kw = kw_first; kw < kw_last; kw++) {
            const float *${f.restrict}xr = ${added("x", "base", times("kh", h.dilation * h.x_stride), times("kw", w.dilation * w.x_stride))};
            const float *${f.restrict}wr = w + ${times("(" + times("kh", w.kernel) + " + kw)", k.channels)};
            for (int o = 0; o < ${block.width}; o++) {
                acc[o] += xr[o] * wr[o];
            }
        }
    }
    for (int o = 0; o < ${block.width}; o++) {
        const float v = acc[o];
        y[o] = ${k.clamp};
    }
}
</%def>\
% for block in k.blocks:
% if w.inner_last > w.inner_first:
${k.attribute} ${f.storage} void ${f.name}_block${block.width}(const float *${f.restrict}x, int base, const float *${f.restrict}w, ${f"const float *{f.restrict}b, " if k.bias else ""}float *${f.restrict}y, int kh_first, int kh_last)
{
    enum { PIXELS = ${k.pixels[loop.index]} };
    float acc[PIXELS][${block.width}];
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            acc[p][o] = ${"b[o]" if k.bias else "0.0f"};
        }
    }
    for (int kh = kh_first; kh < kh_last; kh++) {
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const float *${f.restrict}xr = ${added("x", "base", times("kh", h.dilation * h.x_stride), times("kw", w.dilation * w.x_stride))};
            const float *${f.restrict}wr = w + ${times("(" + times("kh", w.kernel) + " + kw)", k.channels)};
            for (int p = 0; p < PIXELS; p++) {
                for (int o = 0; o < ${block.width}; o++) {
                    acc[p][o] += xr[${times("p", w.stride * w.x_stride)} + o] * wr[o];
                }
            }
        }
    }
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            const float v = acc[p][o];
            y[${times("p", k.channels)} + o] = ${k.clamp};
        }
    }
}

% endif
% if w.inner_first > 0 or w.inner_last < w.out:
${kernel(block)}
% endif
% endfor
${k.attribute} ${f.storage} void ${f.name}(${f.parameters})
{
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int top = ${plus(times("oh", h.stride), -h.pad)};
        int kh_first = 0;
        int kh_last = ${h.kernel};
        while (kh_first < kh_last && top + ${times("kh_first", h.dilation)} < 0) {
            kh_first++;
        }
        while (kh_last > kh_first && top + ${times("(kh_last - 1)", h.dilation)} >= ${h.size}) {
            kh_last--;
        }
        float *const yr = y + ${times("oh", w.out * k.channels)};
% for block in k.blocks:
<%
bias = "b + c, " if k.bias else ""
%>\
        for (int c = ${block.first}; c < ${block.first + block.count * block.width}; c += ${block.width}) {
            const int row = ${added(times("top", h.x_stride), "c")};
% if w.inner_last > w.inner_first:
            enum { PIXELS = ${k.pixels[loop.index]} };
            for (int ow = ${w.inner_first}; ow < ${w.inner_last}; ow += PIXELS) {
                const int at = ow < ${w.inner_last} - PIXELS ? ow : ${w.inner_last} - PIXELS;
                ${f.name}_block${block.width}(x, ${added("row", times(grouped(plus(times("at", w.stride), -w.pad)), w.x_stride))}, w + c, ${bias}yr + ${times("at", k.channels)} + c, kh_first, kh_last);
            }
% endif
% for first, last in ((0, w.inner_first), (w.inner_last, w.out)):
% if last > first:
            for (int ow = ${first}; ow < ${last}; ow++) {
                const int left = ${plus(times("ow", w.stride), -w.pad)};
                int kw_first = 0;
                int kw_last = ${w.kernel};
                while (kw_first < kw_last && left + ${times("kw_first", w.dilation)} < 0) {
                    kw_first++;
                }
                while (kw_last > kw_first && left + ${times("(kw_last - 1)", w.dilation)} >= ${w.size}) {
                    kw_last--;
                }
                ${f.name}_border${block.width}(x, ${added("row", times("left", w.x_stride))}, w + c, ${bias}yr + ${times("ow", k.channels)} + c, kh_first, kh_last, kw_first, kw_last);
            }
% endif
% endfor
        }
% endfor
    }
}
