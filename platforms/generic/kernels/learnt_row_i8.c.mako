<% q, results = k.requantise, k.product.results %>\
static void ${f.name}(${f.parameters})
{
    for (int first = 0; first < ${results}; first += 4) {
        const int count = first < ${results - 3} ? 4 : ${results} - first;
        int32_t sums[4];
        tilewright_learnt_row(${k.x}, ${k.w} + first * ${k.weight_steps[0]}, ${k.x_steps[1]}, ${k.weight_steps[0]}, ${k.weight_steps[1]}, ${k.product.channels}, ${k.zero}, count, sums);
        for (int j = 0; j < count; j++) {
            const int channel = first + j;
            const int32_t acc = sums[j]${" + " + k.bias + "[channel]" if k.bias else ""};
            int32_t code = ${q.code("acc", "channel")};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${"channel" if k.y_steps[1] == 1 else "channel * %d" % k.y_steps[1]}] = (${k.y_type})code;
        }
    }
}
