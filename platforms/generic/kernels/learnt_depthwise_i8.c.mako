<%
t, q = k.product, k.requantise
rows, columns = k.plane
taps = [(kh, kw, kh * t.dilations[0] * columns + kw * t.dilations[1]) for kh in range(t.kernel[0]) for kw in range(t.kernel[1])]
%>\
static void ${f.name}(${f.parameters})
{
    int16_t *const plane = (int16_t *)scratch;
    for (int part = 0; part < ${t.images * t.groups}; part++) {
        const int image = part / ${t.groups}, channel = part % ${t.groups};
        const int8_t *const own = ${k.w} + channel * ${k.weight_steps[0]};
% for kh, kw, _ in taps:
        const int32_t w${kh}_${kw} = own[${kh * k.weight_steps[2] + kw * k.weight_steps[3]}];
% endfor
% for declaration in q.declarations("channel"):
        ${declaration}
% endfor
        tilewright_plane(${k.x} + image * ${k.x_steps[0]} + channel * ${k.x_steps[1]}, ${k.x_steps[2]}, ${k.x_steps[3]}, ${t.size[0]}, ${t.size[1]}, ${t.begins[0]}, ${t.begins[1]}, ${rows}, ${columns}, ${k.zero}, plane);
        for (int row = 0; row < ${t.outs[0]}; row++) {
            const int16_t *from = plane + row * ${t.strides[0] * columns};
            ${k.y_type} *to = y + image * ${k.y_steps[0]} + channel * ${k.y_steps[1]} + row * ${k.y_steps[2]};
            for (int column = 0; column < ${t.outs[1]}; column++, from += ${t.strides[1]}, to += ${k.y_steps[3]}) {
                const int32_t acc = ${" + ".join((["%s[channel]" % k.bias] if k.bias else []) + ["from[%d] * w%d_%d" % (at, kh, kw) for kh, kw, at in taps])};
                int32_t code = ${q.code("acc", "channel", q.held)};
                code = code < ${q.low} ? ${q.low} : code;
                code = code > ${q.high} ? ${q.high} : code;
                *to = (${k.y_type})code;
            }
        }
    }
}
