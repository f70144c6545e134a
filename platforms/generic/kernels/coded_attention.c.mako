static void ${f.name}(${f.parameters})
{
    float *const weight = (float *)scratch, *const query = weight + ${k.rows};
    const int64_t asked = length[0];
    const int count = asked < 0 ? 0 : asked > ${k.rows} ? ${k.rows} : (int)asked;
    for (int line = 0; line < ${k.heads * k.queries}; line++) {
        const int8_t *key = k + line / ${k.queries} * ${k.rows * k.depth};
        const int8_t *const values = v + line / ${k.queries} * ${k.rows * k.value_depth};
        float *const out = y + line * ${k.value_depth};
        float high = -INFINITY, total = 0, share;
        for (int e = 0; e < ${k.depth}; e++) {
            query[e] = q[line * ${k.depth} + e] * ${k.factor};
        }
        for (int j = 0; j < count; j++) {
            float score = 0;
            for (int e = 0; e < ${k.depth}; e++) {
                score += query[e] * (float)key[e];
            }
            key += ${k.depth};
            score *= k_most[j];
            weight[j] = score;
            high = score > high || score != score ? score : high;
        }
        for (int j = 0; j < count; j++) {
            const float power = expf(weight[j] - high);
            total += power;
            weight[j] = power * v_most[j];
        }
        share = total == 0 ? 0 : ${k.v_unit} / total;
% for begin in range(0, k.value_depth, 4):
<% columns = range(begin, min(begin + 4, k.value_depth)) %>\
        {
            const int8_t *value = values${f" + {begin}" if begin else ""};
            float ${", ".join(f"sum{c - begin} = 0" for c in columns)};
            for (int j = 0; j < count; j++) {
% for c in columns:
                sum${c - begin} += weight[j] * (float)value[${c - begin}];
% endfor
                value += ${k.value_depth};
            }
% for c in columns:
            out[${c}] = sum${c - begin} * share;
% endfor
        }
% endfor
    }
}
