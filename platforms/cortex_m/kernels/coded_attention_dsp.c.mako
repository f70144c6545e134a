<%
pairs = k.depth // 2
held = k.depth <= 8
one_by_one = k.queries % 2
two_by_two = k.queries // 2
%>\
/* Scores of one query; gives the highest, or the one before where that is higher. */
TILEWRIGHT_IN_ORDER int32_t ${f.name}_scores(const int8_t *key, const int16_t *query, const int32_t *factor, int32_t *score, int rows, int32_t high)
{
% if held:
    const uint32_t ${", ".join(f"x{n} = tilewright_load(query + {2 * n})" for n in range(pairs))};
% endif
    TILEWRIGHT_UNROLL_FOUR
    for (int j = 0; j < rows; j++) {
        int32_t sum = 0;
% if held:
% for n in range(0, pairs, 2):
        const uint32_t word${n} = tilewright_load(key + ${2 * n});
% endfor
        const int32_t part = *factor++;
% for n in range(0, pairs, 2):
        sum = tilewright_smlad(tilewright_even(word${n}), x${n}, sum);
        sum = tilewright_smlad(tilewright_odd(word${n}), x${n + 1}, sum);
% endfor
% else:
        const int32_t part = *factor++;
        TILEWRIGHT_UNROLL_FOUR
        for (int n = 0; n < ${k.depth}; n += 4) {
            const uint32_t word = tilewright_load(key + n);
            sum = tilewright_smlad(tilewright_even(word), tilewright_load(query + n), sum);
            sum = tilewright_smlad(tilewright_odd(word), tilewright_load(query + n + 2), sum);
        }
% endif
        key += ${k.depth};
        sum = tilewright_high(sum, part);
        *score++ = sum;
        high = sum > high ? sum : high;
    }
    return high;
}

/* Every second of `share` for the scores of one query; gives the sum of their powers. */
TILEWRIGHT_IN_ORDER uint32_t ${f.name}_shares(const int32_t *score, int32_t high, int32_t shift, const int32_t *factor, const uint16_t *coarse, const uint16_t *fine, uint16_t *share, int rows)
{
    uint32_t total = 0;
    TILEWRIGHT_UNROLL_FOUR
    for (int j = 0; j < rows; j++) {
        uint32_t low = (uint32_t)*score++, part = (uint32_t)*factor++, step, first, second, power;
        TILEWRIGHT_BOTH(low, part);
        step = tilewright_step(((uint32_t)high - low) >> shift);
        first = step >> 5 & 63;
        second = step & 31;
        TILEWRIGHT_BOTH(first, second);
        first = coarse[first];
        second = fine[second];
        TILEWRIGHT_BOTH(first, second);
        power = first * second >> (step >> 11);
        total += power >> ${k.total_shift};
        *share = (uint16_t)tilewright_near_high((int32_t)power, (int32_t)part);
        share += 2;
    }
    return total;
}

% for queries in sorted({2} & {2 * bool(two_by_two)} | {1} & {one_by_one}, reverse=True):
/* Adds the values of a block to the sums of ${"two queries" if queries == 2 else "a query"}. */
TILEWRIGHT_IN_ORDER void ${f.name}_sums_of_${queries}(const int8_t *values, const uint32_t *shares, int rows, float *y)
{
    for (int e = 0; e < ${k.value_depth}; e += 4) {
        const int8_t *value = values + e;
        const uint32_t *share = shares;
% for line in range(queries):
% for n in range(4):
        int32_t sum${line}${n} = (int32_t)tilewright_load(y + e${f" + {line * k.value_depth + n}" if line or n else ""});
% endfor
% endfor
        TILEWRIGHT_UNROLL_EIGHT
        for (int j = 0; j < rows; j++) {
            const uint32_t word = tilewright_load(value), both = *share++;
            const uint32_t odd = tilewright_odd(word), even = tilewright_even(word);
            value += ${k.value_depth};
% for line, half in zip(range(queries), "bt"):
            sum${line}0 = tilewright_smlab${half}(even, both, sum${line}0);
            sum${line}1 = tilewright_smlab${half}(odd, both, sum${line}1);
            sum${line}2 = tilewright_smlat${half}(even, both, sum${line}2);
            sum${line}3 = tilewright_smlat${half}(odd, both, sum${line}3);
% endfor
        }
% for line in range(queries):
% for n in range(4):
        memcpy(y + e${f" + {line * k.value_depth + n}" if line or n else ""}, &sum${line}${n}, sizeof sum${line}${n});
% endfor
% endfor
    }
}

% endfor
/* A block of rows for one query: its shares, with the sums of before made less where a score is higher. */
static void ${f.name}_line(const int8_t *key, const int16_t *query, const int32_t *factors, int32_t *score, int rows, int32_t *line, float *sums, const uint16_t *coarse, const uint16_t *fine, uint16_t *share)
{
    const int32_t high = ${f.name}_scores(key, query, factors, score, rows, line[1]);
    if (high > line[1]) {
        tilewright_attention_raise(line, high, sums, ${k.value_depth}, coarse, fine);
    }
    line[2] = (int32_t)((uint32_t)line[2] + ${f.name}_shares(score, high + (int32_t)((uint32_t)1 << line[0] >> 1), line[0], factors + ${k.block}, coarse, fine, share, rows));
}

static void ${f.name}(${f.parameters})
{
    int32_t *const factors = (int32_t *)scratch, *const score = factors + ${2 * k.block};
    uint32_t *const shares = (uint32_t *)(score + ${k.block}); /* of two queries */
    int32_t *const lines = (int32_t *)(shares + ${k.block}); /* shift, highest score and sum of powers of each */
    int16_t *const queries = (int16_t *)(lines + ${3 * k.lines});
    const int64_t asked = length[0];
    const int count = asked < 0 ? 0 : asked > ${k.rows} ? ${k.rows} : (int)asked;
    const float most_key = tilewright_attention_most(k_most, count, 1e-20f);
    const float most_value = tilewright_attention_most(v_most, count, 1e-30f);
    const float key_ratio = 1073741824.0f / most_key, value_ratio = ${4 * k.share}.0f / most_value;
    memset(y, 0, ${4 * k.lines * k.value_depth});
    for (int line = 0; line < ${k.lines}; line++) {
        lines[3 * line] = tilewright_attention_query(q + line * ${k.depth}, ${k.depth}, most_key * ${k.factor}, ${k.query}.0f, 1, queries + line * ${k.depth});
        lines[3 * line + 1] = INT32_MIN / 2;
        lines[3 * line + 2] = 0;
    }
    for (int begin = 0; begin < count; begin += ${k.block}) {
        const int rows = count - begin < ${k.block} ? count - begin : ${k.block};
        for (int j = 0; j < rows; j++) {
            factors[j] = tilewright_attention_factor(k_most[begin + j], key_ratio);
            factors[${k.block} + j] = tilewright_attention_factor(v_most[begin + j], value_ratio);
        }
        for (int head = 0; head < ${k.heads}; head++) {
            const int8_t *const keys = k + (head * ${k.rows} + begin) * ${k.depth};
            const int8_t *const values = v + (head * ${k.rows} + begin) * ${k.value_depth};
            for (int of = 0; of < ${k.queries}; of += 2) {
                const int line = head * ${k.queries} + of;
                float *const sums = y + line * ${k.value_depth};
                ${f.name}_line(keys, queries + line * ${k.depth}, factors, score, rows, lines + 3 * line, sums, coarse, fine, (uint16_t *)shares);
% if two_by_two and one_by_one:
                if (of == ${k.queries - 1}) {
                    ${f.name}_sums_of_1(values, shares, rows, sums);
                    break;
                }
% elif one_by_one:
                ${f.name}_sums_of_1(values, shares, rows, sums);
% endif
% if two_by_two:
                ${f.name}_line(keys, queries + (line + 1) * ${k.depth}, factors, score, rows, lines + 3 * line + 3, sums + ${k.value_depth}, coarse, fine, (uint16_t *)shares + 1);
                ${f.name}_sums_of_2(values, shares, rows, sums);
% endif
            }
        }
    }
    for (int line = 0; count != 0 && line < ${k.lines}; line++) {
        tilewright_attention_results(lines + 3 * line, most_value * ${k.unit}, y + line * ${k.value_depth}, ${k.value_depth});
    }
}
