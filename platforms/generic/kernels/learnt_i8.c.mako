<%
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
t, q = k.product, k.requantise
pixels = t.outs[0] * t.outs[1]
%>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_product product = {
        ${t.images}, ${t.groups}, ${t.channels}, ${t.results}, ${listed(t.size)}, ${listed(t.outs)}, ${listed(t.kernel)},
        ${listed(t.strides)}, ${listed(t.dilations)}, ${listed(t.begins)}, ${listed(k.x_steps)}, ${listed(k.y_steps)}};
    tilewright_learnt learnt = {${k.x}, ${k.w}, (int16_t *)scratch, ${k.zero}, ${k.depth}, ${k.weight_steps[0]}, ${", ".join(str(n) for n in k.runs)}};
    for (int part = 0; part < ${t.images * t.groups}; part++) {
        const int image = part / ${t.groups}, group = part % ${t.groups};
        learnt.w = ${k.w} + group * ${t.results * k.weight_steps[0]};
        for (int pixel = 0, count; pixel < ${pixels}; pixel += count) {
            count = pixel < ${pixels - 1} ? 2 : 1;
            tilewright_learnt_gather(&product, &learnt, image, group, pixel, learnt.gathered);
            tilewright_learnt_gather(&product, &learnt, image, group, pixel + count - 1, learnt.gathered + ${k.depth});
            tilewright_learnt_order(&learnt, learnt.gathered);
            tilewright_learnt_order(&learnt, learnt.gathered + ${k.depth});
            for (int first = 0; first < ${t.results}; first += 4) {
                const int results = first < ${t.results - 3} ? 4 : ${t.results} - first;
                int32_t sums[8];
                tilewright_learnt_sums(&learnt, first, results, sums);
                for (int at = 0; at < 4 * count; at++) {
                    const int own = pixel + at / 4, channel = group * ${t.results} + first + at % 4;
                    if (at % 4 < results) {
                        const int32_t acc = sums[at]${" + " + k.bias + "[channel]" if k.bias else ""};
                        int32_t code = ${q.code("acc", "channel")};
                        code = code < ${q.low} ? ${q.low} : code;
                        code = code > ${q.high} ? ${q.high} : code;
                        y[image * ${k.y_steps[0]} + own / ${t.outs[1]} * ${k.y_steps[2]} + own % ${t.outs[1]} * ${k.y_steps[3]} + channel * ${k.y_steps[1]}] = (${k.y_type})code;
                    }
                }
            }
        }
    }
}
