<%
pairs = k.depth // 2
held = k.depth <= 8
one_by_one = k.queries % 2
two_by_two = k.queries // 2
byte = "uint8_t" if k.four else "int8_t"
def half(word, high):  # four codes of a word of eight
    return f"{word} & 0xF0F0F0F0u" if high else f"{word} << 4 & 0xF0F0F0F0u"
halves = (False, True) if k.four else (False,)
def place(line, n, high):
    offset = line * k.value_depth + n + high * k.value_bytes
    return f"y + e + {offset}" if offset else "y + e"
%>\
/* Scores of one query; gives the highest, or the one before where that is higher. */
TILEWRIGHT_IN_ORDER int32_t ${f.name}_scores(const ${byte} *key, const int16_t *query, const int32_t *factor, int32_t *score, int rows, int32_t high)
{
% if held:
    const uint32_t ${", ".join(f"x{n} = tilewright_load(query + {2 * n})" for n in range(pairs))};
% endif
    TILEWRIGHT_UNROLL_FOUR
    for (int j = 0; j < rows; j++) {
        int32_t sum = 0;
% if held:
% if k.four:
% for n in range(0, pairs // 2, 2):
        const uint32_t both${n} = tilewright_load(key + ${2 * n});
% endfor
% for n in range(0, pairs, 2):
        const uint32_t word${n} = ${half(f"both{n % (pairs // 2)}", n >= pairs // 2)};
% endfor
% else:
% for n in range(0, pairs, 2):
        const uint32_t word${n} = tilewright_load(key + ${2 * n});
% endfor
% endif
        const int32_t part = *factor++;
% for n in range(0, pairs, 2):
        sum = tilewright_smlad(tilewright_even(word${n}), x${n}, sum);
        sum = tilewright_smlad(tilewright_odd(word${n}), x${n + 1}, sum);
% endfor
% else:
        const int32_t part = *factor++;
        TILEWRIGHT_UNROLL_FOUR
        for (int n = 0; n < ${k.key_bytes}; n += 4) {
% if k.four:
            const uint32_t both = tilewright_load(key + n), word = ${half("both", False)}, high = ${half("both", True)};
% else:
            const uint32_t word = tilewright_load(key + n);
% endif
            sum = tilewright_smlad(tilewright_even(word), tilewright_load(query + n), sum);
            sum = tilewright_smlad(tilewright_odd(word), tilewright_load(query + n + 2), sum);
% if k.four:
            sum = tilewright_smlad(tilewright_even(high), tilewright_load(query + n + ${k.key_bytes}), sum);
            sum = tilewright_smlad(tilewright_odd(high), tilewright_load(query + n + ${k.key_bytes + 2}), sum);
% endif
        }
% endif
        key += ${k.key_bytes};
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
TILEWRIGHT_IN_ORDER void ${f.name}_sums_of_${queries}(const ${byte} *values, const uint32_t *shares, int rows, float *y)
{
% for high in halves:
    for (int e = 0; e < ${k.value_bytes}; e += 4) {
        const ${byte} *value = values + e;
        const uint32_t *share = shares;
% for line in range(queries):
% for n in range(4):
        int32_t sum${line}${n} = (int32_t)tilewright_load(${place(line, n, high)});
% endfor
% endfor
        TILEWRIGHT_UNROLL_EIGHT
        for (int j = 0; j < rows; j++) {
% if k.four:
            const uint32_t codes = tilewright_load(value), both = *share++, word = ${half("codes", high)};
% else:
            const uint32_t word = tilewright_load(value), both = *share++;
% endif
            const uint32_t odd = tilewright_odd(word), even = tilewright_even(word);
            value += ${k.value_bytes};
% for line, side in zip(range(queries), "bt"):
            sum${line}0 = tilewright_smlab${side}(even, both, sum${line}0);
            sum${line}1 = tilewright_smlab${side}(odd, both, sum${line}1);
            sum${line}2 = tilewright_smlat${side}(even, both, sum${line}2);
            sum${line}3 = tilewright_smlat${side}(odd, both, sum${line}3);
% endfor
        }
% for line in range(queries):
% for n in range(4):
        (void)memcpy(${place(line, n, high)}, &sum${line}${n}, sizeof sum${line}${n});
% endfor
% endfor
    }
% endfor
}

% endfor
/* A block of rows for one query: its shares, with the sums of before made less where a score is higher. */
static void ${f.name}_line(const ${byte} *key, const int16_t *query, const int32_t *factors, int32_t *score, int rows, int32_t *line, float *sums, const uint16_t *coarse, const uint16_t *fine, uint16_t *share)
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
    (void)memset(y, 0, ${4 * k.lines * k.value_depth});
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
            const ${byte} *const keys = k + (head * ${k.rows} + begin) * ${k.key_bytes};
            const ${byte} *const values = v + (head * ${k.rows} + begin) * ${k.value_bytes};
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
