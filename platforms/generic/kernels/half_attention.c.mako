<%
S, D, V = k.size, k.size.depth, k.size.value_depth
%>\
static void ${f.name}(${f.parameters})
{
    float *const weight = (float *)scratch;
    for (int entry = 0; entry < ${S.batch}; entry++) {
        const int64_t asked = length[entry];
        const int rows = asked < 0 ? 0 : asked > ${S.keys} ? ${S.keys} : (int)asked;
        for (int line = 0; line < ${S.query_heads * S.queries}; line++) {
            const int head = entry * ${S.key_heads} + line / ${S.queries * k.group};
            const float *const query = q + (entry * ${S.query_heads * S.queries} + line) * ${D};
            const tilewright_f16 *key = k + head * ${S.keys * D};
            const tilewright_f16 *value = v + head * ${S.keys * V};
            float *const out = y + (entry * ${S.query_heads * S.queries} + line) * ${V};
            float high = -INFINITY, total = 0;
            for (int j = 0; j < rows; j++) {
                float score = 0;
                for (int e = 0; e < ${D}; e++) {
                    score += query[e] * tilewright_f16_to_float(key[e]);
                }
                score = score * ${k.scale};
                weight[j] = score;
                high = score > high || score != score ? score : high;
                key += ${D};
            }
            for (int e = 0; e < ${V}; e++) {
                out[e] = 0;
            }
            for (int j = 0; j < rows; j++) {
                const float power = expf(weight[j] - high);
                total += power;
                for (int e = 0; e < ${V}; e++) {
                    out[e] += power * tilewright_f16_to_float(value[e]);
                }
                value += ${V};
            }
            for (int e = 0; e < ${V}; e++) {
                out[e] = total == 0 ? 0 : out[e] / total;
            }
        }
    }
}
