<%
z = k.size
byte = "uint8_t" if z.four else "int8_t"
halves = 2 if z.four else 1
def key(word, at):  # four codes of a word of a row, as they count
    if not z.four:
        return word
    return f"({word} & 0xF0F0F0F0u)" if at >= k.key_words else f"({word} << 4 & 0xF0F0F0F0u)"
def value(at, high):
    if not z.four:
        return f"value[{at}]"
    return f"(int8_t)(value[{at}] & 240)" if high else f"(int8_t)(uint8_t)(value[{at}] << 4)"
%>\
/* Scores of a block's rows; the highest of them and `most`. */
static inline int32_t ${f.name}_scores(const ${byte} *key, const uint32_t *factor, int32_t *score, int rows, int32_t most, const uint32_t *high, const uint32_t *low)
{
% if k.scores:
#ifdef TILEWRIGHT_XPULP
    __asm__ volatile(
${k.scores}
        : [key] "+&r"(key), [factor] "+&r"(factor), [score] "+&r"(score), [most] "+&r"(most)
        : [rows] "r"(rows), ${'[mask] "r"(0xF0F0F0F0u), ' if z.four else ""}${", ".join(f'[high{n}] "r"(high[{n}]), [low{n}] "r"(low[{n}])' for n in range(k.words))}
        : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
#else
% endif
    for (int j = 0; j < rows; j++) {
        int32_t upper = 0, lower = 0;
        for (int n = 0; n < ${k.key_words}; n++) {
            const uint32_t word = tilewright_word(key + 4 * n);
            upper = tilewright_dot(upper, high[n], ${key("word", 0)});
            lower = tilewright_unsigned_dot(lower, low[n], ${key("word", 0)});
% if z.four:
            upper = tilewright_dot(upper, high[n + ${k.key_words}], ${key("word", k.key_words)});
            lower = tilewright_unsigned_dot(lower, low[n + ${k.key_words}], ${key("word", k.key_words)});
% endif
        }
        key += ${z.key_bytes};
        score[j] = tilewright_high(upper * 256 + lower, (int32_t)factor[j]);
        most = tilewright_larger(most, score[j]);
    }
% if k.scores:
#endif
% endif
    return most;
}

/* Sums of values times shares, which take the place of scores; the sum of powers. */
static inline uint32_t ${f.name}_mixed(const ${byte} *values, const uint32_t *factor, int32_t *scores, int rows, uint32_t above, uint32_t shift, const uint16_t *coarse, const uint16_t *fine, float *sums)
{
    uint32_t total = 0;
#ifdef TILEWRIGHT_XPULP
<%def name="walk(text, outputs, inputs, saved)">\
        __asm__ volatile(
${text}
            : ${outputs}
            : [rows] "r"(rows)${inputs}
            : "memory", "t0", "t1", "t2", "t3", "t4"${saved});
</%def>\
<%
sharing = '[score] "+&r"(score), [factor] "+&r"(factor), [total] "+&r"(total)'
told = ', [above] "r"(above), [shift] "r"(shift), [limit] "r"(65535), [coarse] "r"(coarse), [fine] "r"(fine)'
saved = "".join(f', "s{n}"' for n in range(8))
%>\
% if k.shares:
    {
        int32_t *score = scores;
${walk(k.shares, sharing, told, "")}\
    }
% endif
% for chunk in k.chunks:
    for (int n = 0; n < ${chunk.times}; n++) {
        const ${byte} *value = values + ${f"{chunk.first} + " if chunk.first else ""}${chunk.lanes} * n;
        int32_t *score = scores;
${walk(chunk.text, '[score] "+&r"(score), [value] "+&r"(value)' if k.shares else sharing + ', [value] "+&r"(value)', f', [sums] "r"(sums + {chunk.first} + {chunk.lanes} * n)' + ("" if k.shares else told), saved)}\
    }
% endfor
#else
    for (int j = 0; j < rows; j++) {
        const uint32_t step = (uint32_t)tilewright_smaller((int32_t)((above - (uint32_t)scores[j]) >> shift), 65535);
        const uint32_t power = tilewright_attention_power(coarse, fine, step);
        total += power >> ${z.total_shift};
        scores[j] = (int32_t)((tilewright_unsigned_high(power, factor[j]) + 1u) >> 1); /* rounded */
    }
    for (int e = 0; e < ${z.value_bytes}; e++) {
        const ${byte} *value = values + e;
% for half in range(halves):
        int32_t sum${half} = (int32_t)tilewright_word(sums + e${f" + {z.value_bytes}" if half else ""});
% endfor
        for (int j = 0; j < rows; j++) {
% for half in range(halves):
            sum${half} += scores[j] * ${value(0, half)};
% endfor
            value += ${z.value_bytes};
        }
% for half in range(halves):
        tilewright_put_word(sums + e${f" + {z.value_bytes}" if half else ""}, (uint32_t)sum${half});
% endfor
    }
#endif
    return total;
}

/* The largest elements of rows, by all cores; the part of it that each row has; then lines, shared among the cores. */
TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    uint32_t *const factors = (uint32_t *)scratch; /* of keys, then of values, these doubled */
    int32_t *const largest = (int32_t *)(void *)(factors + ${2 * z.rows}); /* of keys by every core, of values, of all */
    const int64_t asked = length[0];
    const int count = asked < 0 ? 0 : asked > ${z.rows} ? ${z.rows} : (int)asked;
    if (phase < 2) {
        const int first = tilewright_share(count, core, cores), last = tilewright_share(count, core + 1, cores);
        for (int values = 0; values < 2; values++) {
            const float *const most = values ? v_most : k_most;
            const float least = tilewright_float(values ? 0x0DA24260u : 0x1E3CE508u);
            float highest, ratio;
            if (phase == 0) {
                largest[values * cores + core] = tilewright_largest(most + first, last - first, least, 0xFFFFFFFFu);
                continue;
            }
            const int32_t bits = tilewright_largest((const float *)(const void *)(largest + values * cores), cores, least, 0xFFFFFFFFu);
            largest[2 * cores + values] = bits;
            (void)memcpy(&highest, &bits, sizeof highest);
            ratio = tilewright_float(values ? ${k.share} : 0x4E800000u) / highest;
            for (int j = first; j < last; j++) {
                factors[values * ${z.rows} + j] = (uint32_t)tilewright_attention_factor(most[j], ratio) << values;
            }
        }
        return;
    }
    int32_t *const score = largest + 2 * cores + 2 + core * ${k.core_words};
    uint32_t *const query_high = (uint32_t *)(void *)(score + ${z.block}), *const query_low = query_high + ${k.words};
    const int end = tilewright_share(tile->lines, core + 1, cores);
    float most_key, most_value;
    (void)memcpy(&most_key, largest + 2 * cores, sizeof most_key);
    (void)memcpy(&most_value, largest + 2 * cores + 1, sizeof most_value);
    for (int line = tilewright_share(tile->lines, core, cores); line < end; line++) {
        const int head = tile->queries == 1 ? line : line / tile->queries;
        const ${byte} *keys = k + head * ${z.rows * z.key_bytes};
        const ${byte} *values = v + head * ${z.rows * z.value_bytes};
        float *const sums = y + line * ${z.value_depth};
        const uint32_t shift = tilewright_attention_words(q + line * ${z.depth}, ${z.depth}, most_key * tilewright_float(${k.factor}), tilewright_float(${k.query}), query_high, query_low);
        int32_t high = INT32_MIN / 2;
        uint32_t total = 0;
        float share;
        for (int e = 0; e < ${z.value_depth}; e++) {
            tilewright_put_word(sums + e, 0);
        }
        for (int begin = 0; begin < count; begin += ${z.block}) {
            const int rows = count - begin < ${z.block} ? count - begin : ${z.block};
            const int32_t higher = ${f.name}_scores(keys, factors + begin, score, rows, high, query_high, query_low);
            if (higher > high && total != 0) {
                const uint32_t power = tilewright_attention_power(coarse, fine, tilewright_attention_step(higher, high, (int32_t)shift));
                total = tilewright_attention_less(sums, ${z.value_depth}, total, power);
            }
            high = higher;
            total += ${f.name}_mixed(values, factors + ${z.rows} + begin, score, rows, (uint32_t)high + (1u << shift >> 1), shift, coarse, fine, sums);
            keys += ${z.block * z.key_bytes};
            values += ${z.block * z.value_bytes};
        }
        if (count == 0) {
            continue;
        }
        share = most_value * tilewright_float(${k.unit}) / (float)total;
        for (int e = 0; e < ${z.value_depth}; e++) {
            sums[e] = (float)(int32_t)tilewright_word(sums + e) * share;
        }
    }
}
