<%
s = k.size
pairs = s.depth // 2
def pair(n):
    return f"x{n}" if k.held else f"query[{n}]"
%>\
TILEWRIGHT_IN_ORDER void ${f.name}(${f.parameters})
{
    float *const score = (float *)scratch;
    uint32_t *const query = (uint32_t *)scratch + ${s.rows};
    uint16_t *const share = (uint16_t *)(query + ${pairs}), *const wide = share + ${s.rows + s.rows % 2};
    const int64_t asked = length[0];
    const int count = asked < 0 ? 0 : asked > ${s.rows} ? ${s.rows} : (int)asked;
    float widest = 1e-30f, widening;
    for (int j = 0; j < count; j++) {
        widest = v_most[j] > widest ? v_most[j] : widest;
    }
    widening = ${k.share}.0f / widest;
    for (int j = 0; j < count; j++) {
        wide[j] = (uint16_t)(v_most[j] * widening);
    }
    for (int line = 0; line < ${s.heads * s.queries}; line++) {
        const float *const from = q + line * ${s.depth};
        const int8_t *key = k + line / ${s.queries} * ${s.rows * s.depth};
        const int8_t *const values = v + line / ${s.queries} * ${s.rows * s.value_depth};
        float *const out = y + line * ${s.value_depth};
        float most = 1e-30f, high = -INFINITY, factor, unit;
        uint32_t total = 0;
        for (int e = 0; e < ${s.depth}; e++) {
            const float size = from[e] < 0 ? -from[e] : from[e];
            most = size > most ? size : most;
        }
        factor = 32000.0f / most;
        for (int e = 0; e < ${s.depth}; e += 4) {
            int32_t whole[4];
            for (int i = 0; i < 4; i++) {
                const float scaled = from[e + i] * factor;
                whole[i] = (int32_t)(scaled < 0 ? scaled - 0.5f : scaled + 0.5f);
            }
            query[e / 2] = tilewright_bottoms((uint32_t)whole[0], (uint32_t)whole[2]);
            query[e / 2 + 1] = tilewright_bottoms((uint32_t)whole[1], (uint32_t)whole[3]);
        }
        factor = most * ${k.factor};
        {
% if k.held:
            const uint32_t ${", ".join(f"x{n} = query[{n}]" for n in range(pairs))};
% endif
            TILEWRIGHT_UNROLL_FOUR
            for (int j = 0; j < count; j++) {
                int32_t sum = 0;
                float found;
% if k.held:
% for n in range(0, pairs, 2):
                const uint32_t word${n} = tilewright_load(key + ${2 * n});
% endfor
% for n in range(0, pairs, 2):
                sum = tilewright_smlad(tilewright_even(word${n}), x${n}, sum);
                sum = tilewright_smlad(tilewright_odd(word${n}), x${n + 1}, sum);
% endfor
% else:
                for (int n = 0; n < ${pairs}; n += 2) {
                    const uint32_t word = tilewright_load(key + 2 * n);
                    sum = tilewright_smlad(tilewright_even(word), query[n], sum);
                    sum = tilewright_smlad(tilewright_odd(word), query[n + 1], sum);
                }
% endif
                key += ${s.depth};
                found = (float)sum * k_most[j];
                score[j] = found;
                high = found > high ? found : high;
            }
        }
        TILEWRIGHT_UNROLL_FOUR
        for (int j = 0; j < count; j++) {
            const float steps = (high - score[j]) * factor; /* of 1/2048, as a power of 2 */
            const uint32_t step = steps < ${31 * 2048 - 1}.0f ? (uint32_t)steps : ${31 * 2048 - 1}u;
            const uint32_t power = (uint32_t)coarse[step >> 5 & 63] * fine[step & 31] >> (step >> 11); /* 2^30 is 1 */
            total += power >> 10;
            share[j] = (uint16_t)(((power >> 15) * wide[j] + 16384) >> 15);
        }
        unit = total != 0 ? widest * ${k.unit} / (float)total : 0;
        for (int e = 0; e < ${s.value_depth}; e += 4) {
            const int8_t *value = values + e;
            int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
            const uint16_t *shares = share;
            TILEWRIGHT_UNROLL_FOUR
            for (int pairs = count / 2; pairs != 0; pairs--) {
                const uint32_t both = tilewright_load(shares);
                const uint32_t a = tilewright_load(value), b = tilewright_load(value + ${s.value_depth});
                const uint32_t even_a = tilewright_even(a), even_b = tilewright_even(b);
                const uint32_t odd_a = tilewright_odd(a), odd_b = tilewright_odd(b);
                sum0 = tilewright_smlad(tilewright_bottoms(even_a, even_b), both, sum0);
                sum2 = tilewright_smlad(tilewright_tops(even_a, even_b), both, sum2);
                sum1 = tilewright_smlad(tilewright_bottoms(odd_a, odd_b), both, sum1);
                sum3 = tilewright_smlad(tilewright_tops(odd_a, odd_b), both, sum3);
                value += ${2 * s.value_depth};
                shares += 2;
            }
            if (count % 2 != 0) {
                sum0 += value[0] * *shares;
                sum1 += value[1] * *shares;
                sum2 += value[2] * *shares;
                sum3 += value[3] * *shares;
            }
            out[e] = (float)sum0 * unit;
            out[e + 1] = (float)sum1 * unit;
            out[e + 2] = (float)sum2 * unit;
            out[e + 3] = (float)sum3 * unit;
        }
    }
}
