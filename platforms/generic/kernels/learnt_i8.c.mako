<%
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
t, q = k.product, k.requantise
results = t.groups * t.results
%>\
<%def name="stored(count, sums, place)">\
        for (int j = 0; j < ${count}; j++) {
            const int channel = first + j;
            const int32_t acc = ${sums}${" + " + k.bias + "[channel]" if k.bias else ""};
            int32_t code = ${q.code("acc", "channel")};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${place}] = (${k.y_type})code;
        }
</%def>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_product product = {
        ${t.images}, ${t.groups}, ${t.channels}, ${t.results}, ${listed(t.size)}, ${listed(t.outs)}, ${listed(t.kernel)},
        ${listed(t.strides)}, ${listed(t.dilations)}, ${listed(t.begins)}, ${listed(k.x_steps)}, ${listed(k.y_steps)}};
% if k.depthwise:
    tilewright_learnt learnt = {${k.x}, ${k.w}, (int8_t *)scratch + ${k.taken}, (int32_t *)scratch, ${k.zero}, 0, ${listed(k.weight_steps)}};
    for (int first = 0; first < ${results}; first += 4) {
        const int count = first < ${results - 3} ? 4 : ${results} - first;
        learnt.depthwise = count;
        tilewright_learnt_aside(&product, &learnt, first, count);
        for (int at = 0; at < ${t.images * t.outs[0] * t.outs[1]}; at++) {
            const int image = at / ${t.outs[0] * t.outs[1]}, row = at / ${t.outs[1]} % ${t.outs[0]}, column = at % ${t.outs[1]};
            int32_t sums[8];
            (void)tilewright_learnt_sums(&product, &learnt, image, first, row, column, sums);
${stored("count", "sums[j]", "image * %d + row * %d + column * %d + channel * %d" % (k.y_steps[0], k.y_steps[2], k.y_steps[3], k.y_steps[1]))}\
        }
    }
% else:
    const tilewright_learnt learnt = {${k.x}, ${k.w}, (int8_t *)scratch + ${k.taken}, (int32_t *)scratch, ${k.zero}, 0, ${listed(k.weight_steps)}};
    for (int first = 0, count; first < ${results}; first += count) {
        const int group = first / ${t.results}, left = (group + 1) * ${t.results} - first;
        count = left < 4 ? left : 4;
        tilewright_learnt_aside(&product, &learnt, first, count);
        for (int line = 0; line < ${t.images * t.outs[0]}; line++) {
            const int image = line / ${t.outs[0]}, row = line % ${t.outs[0]};
            for (int column = 0; column < ${t.outs[1]};) {
                int32_t sums[8];
                const int pixels = tilewright_learnt_sums(&product, &learnt, image, group, row, column, sums);
                for (int pixel = 0; pixel < pixels; pixel++, column++) {
${stored("count", "sums[4 * pixel + j]", "image * %d + row * %d + column * %d + channel * %d" % (k.y_steps[0], k.y_steps[2], k.y_steps[3], k.y_steps[1]))}\
                }
            }
        }
    }
% endif
}
