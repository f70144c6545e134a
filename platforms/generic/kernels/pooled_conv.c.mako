<%
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
t, bytes_of = k.product, -(-k.product.results // 8)
%>\
static void ${f.name}(${f.parameters})
{
    float *const made = (float *)scratch;
    tilewright_product product = {
        1, 1, ${t.channels}, ${t.results}, ${listed(t.size)}, {1, ${k.at_once}}, ${listed(t.kernel)}, ${listed(t.strides)},
        ${listed(t.dilations)}, ${listed(t.begins)}, ${listed(k.x_steps)}, {0, ${k.at_once}, 0, 1}};
    const tilewright_gathering gathering = {
        0, 1, 0, 1, ${k.channels_at_once}, -INFINITY, INFINITY, x, w, ${"b" if k.bias else "NULL"}, made, made + ${k.at_once * t.results}};
    for (int o = 0; o < ${t.results}; o++) {
        mean[o] = 0.0f;
        counts[o] = 0.0f;
    }
    for (int at = 0; at < ${t.outs[0] * t.outs[1] * bytes_of}; at++) {
        signs[at] = 0;
    }
    for (int row = 0; row < ${t.outs[0]}; row++) {
        for (int column = 0; column < ${t.outs[1]}; column += product.outs[1]) {
            product.outs[1] = ${t.outs[1]} - column < ${k.at_once} ? ${t.outs[1]} - column : ${k.at_once};
            product.begin[0] = ${t.begins[0]} - row * ${t.strides[0]};
            product.begin[1] = ${t.begins[1]} - column * ${t.strides[1]};
            tilewright_convolve(&gathering, &product);
            for (int o = 0; o < ${t.results}; o++) {
                uint8_t *const put = signs + (row * ${t.outs[1]} + column) * ${bytes_of} + o / 8;
                float sum = 0.0f;
                int count = 0;
                for (int j = 0; j < product.outs[1]; j++) {
                    const float value = made[o * ${k.at_once} + j];
                    sum += value < 0.0f ? 0.0f : value; /* what is no number stays none */
                    if (value > 0.0f) {
                        count++;
                        put[j * ${bytes_of}] = (uint8_t)(put[j * ${bytes_of}] | 1u << (unsigned int)(o % 8));
                    }
                }
                mean[o] += sum;
                counts[o] += (float)count;
            }
        }
    }
    for (int o = 0; o < ${t.results}; o++) {
        mean[o] /= ${k.share};
    }
}
