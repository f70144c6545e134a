<%
h, w, q = k.h, k.w, k.requantise
%>\
${f.storage} void ${f.name}(const int element, ${f.parameters})
{
    const int oc = element % ${k.out_channels};
    const int ow = element / ${k.out_channels} % ${w.out};
    const int oh = element / ${k.out_channels * w.out};
    int32_t acc = start[oc];
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int row = oh * ${h.stride} - ${h.begin} + kh * ${h.dilation};
            const int column = ow * ${w.stride} - ${w.begin} + kw * ${w.dilation};
% if k.inside:
            if (!(${" && ".join(k.inside)})) {
                continue;
            }
% endif
            const int tap = kh * ${w.kernel} + kw;
            const int8_t *xr = ${k.x} + (row * ${w.size} + column) * ${k.groups * k.channels}${k.group};
            const int8_t *wr = w4 + (tap * ${k.channels * k.out_channels}) + oc * 4;
            for (int i = 0; i < ${k.channels // 4}; i++) {
                acc = tilewright_dot4(xr + i * 4, wr + i * ${k.out_channels * 4}, acc);
            }
% if k.zero:
            acc -= ${k.zero} * taps[tap * ${k.out_channels} + oc];
% endif
        }
    }
    int32_t code = (int32_t)(${q.c("acc", "oc")});
    code = code < ${q.low} ? ${q.low} : code;
    code = code > ${q.high} ? ${q.high} : code;
    y[element] = (${k.y_type})code;
}
