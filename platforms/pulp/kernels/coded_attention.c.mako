<%
key_words, value_words = k.key_bytes // 4, k.value_bytes // 4
halves = 2 if k.four else 1
words = key_words * halves
held = words <= 4
size = 4 * k.block + -(-4 * k.depth // 8) * 8
def key(word, at):  # four codes of a word of a row, as they count
    if not k.four:
        return word
    return f"({word} & 0xF0F0F0F0u)" if at >= key_words else f"({word} << 4 & 0xF0F0F0F0u)"
def value(at, high):
    if not k.four:
        return f"values[{at}]"
    return f"(int8_t)(values[{at}] & 240)" if high else f"(int8_t)(uint8_t)(values[{at}] << 4)"
columns = [(at, high) for high in range(halves) for at in range(4)]
def place(at, high, row):
    return " + ".join(["sums"] + ["e"] * (row != "values") + [str(n) for n in (at + high * k.value_bytes,) if n])
together = k.value_depth <= 8
everything = [(at, high) for high in range(halves) for at in range(k.value_bytes)]
%>\
<%def name="share(score)">\
                const uint32_t factor = (uint32_t)tilewright_attention_factor(v_most[begin + j], value_ratio);
                const uint32_t power = tilewright_attention_power(coarse, fine, tilewright_attention_step(high, ${score}, shift));
                const uint64_t product = (uint64_t)power * factor;
                const int32_t share = (int32_t)((uint32_t)(product >> 32) + ((uint32_t)product >> 31)); /* rounded */
                total += power >> ${k.total_shift};
</%def>\
<%def name="mixed(row, told, places, size)">\
% if row != "values":
                const ${"uint8_t" if k.four else "int8_t"} *value = values + e;
% endif
% for n, column in enumerate(places):
                int32_t sum${n} = (int32_t)tilewright_word(${place(*column, row)});
% endfor
                for (int j = 0; j < rows; j++) {
% if told:
                    const int32_t share = ${told};
% else:
${share("score[j]")}\
% endif
% for n, column in enumerate(places):
                    sum${n} = tilewright_product(sum${n}, share, ${value(*column).replace("values[", row + "[")});
% endfor
                    ${row} += ${k.value_bytes};
                }
% for n, column in enumerate(places):
                tilewright_put_word(${place(*column, row)}, (uint32_t)sum${n});
% endfor
</%def>\
/* Lines are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    int32_t *const score = (int32_t *)(void *)((unsigned char *)scratch + core * ${size});
    uint32_t *const query_high = (uint32_t *)(void *)(score + ${k.block}), *const query_low = query_high + ${words};
    const int64_t asked = length[0];
    const int count = asked < 0 ? 0 : asked > ${k.rows} ? ${k.rows} : (int)asked;
    const int32_t largest_key = tilewright_largest(k_most, count, 1e-20f, 0xFFFFFFFFu);
    const int32_t largest_value = tilewright_largest(v_most, count, 1e-30f, 0xFFFFFFFFu);
    const int end = tilewright_share(tile->lines, core + 1, cores);
    float most_key, most_value, key_ratio, value_ratio;
    (void)memcpy(&most_key, &largest_key, sizeof most_key);
    (void)memcpy(&most_value, &largest_value, sizeof most_value);
    key_ratio = 1073741824.0f / most_key;
    value_ratio = ${4 * k.share}.0f / most_value;
    for (int line = tilewright_share(tile->lines, core, cores); line < end; line++) {
        const int head = line / tile->queries;
        const ${"uint8_t" if k.four else "int8_t"} *keys = k + head * ${k.rows * k.key_bytes};
        const ${"uint8_t" if k.four else "int8_t"} *values = v + head * ${k.rows * k.value_bytes};
        float *const sums = y + line * ${k.value_depth};
        int16_t *const query = (int16_t *)(void *)score; /* before there are scores */
        int32_t state[3] = {0, INT32_MIN / 2, 0}; /* shift, highest score and sum of powers */
        memset(sums, 0, ${4 * k.value_depth});
        state[0] = tilewright_attention_query(q + line * ${k.depth}, ${k.depth}, most_key * ${k.factor}, ${k.query}.0f, 0, query);
        tilewright_attention_bytes(query, ${k.depth}, query_high, query_low);
        for (int begin = 0; begin < count; begin += ${k.block}) {
            const int rows = count - begin < ${k.block} ? count - begin : ${k.block};
            int32_t high = state[1];
            uint32_t total = 0;
% if held:
            const uint32_t ${", ".join(f"high{n} = query_high[{n}], low{n} = query_low[{n}]" for n in range(words))};
% endif
            for (int j = 0; j < rows; j++) {
                const int32_t factor = tilewright_attention_factor(k_most[begin + j], key_ratio);
                int32_t upper = 0, lower = 0;
% if held:
% for n in range(key_words):
                const uint32_t word${n} = tilewright_word(keys${f" + {4 * n}" if n else ""});
% endfor
% for n in range(words):
                upper = tilewright_dot(upper, high${n}, ${key(f"word{n % key_words}", n)});
                lower = tilewright_unsigned_dot(lower, low${n}, ${key(f"word{n % key_words}", n)});
% endfor
% else:
                for (int n = 0; n < ${key_words}; n++) {
                    const uint32_t word = tilewright_word(keys + 4 * n);
                    upper = tilewright_dot(upper, query_high[n], ${key("word", 0)});
                    lower = tilewright_unsigned_dot(lower, query_low[n], ${key("word", 0)});
% if k.four:
                    upper = tilewright_dot(upper, query_high[n + ${key_words}], ${key("word", key_words)});
                    lower = tilewright_unsigned_dot(lower, query_low[n + ${key_words}], ${key("word", key_words)});
% endif
                }
% endif
                keys += ${k.key_bytes};
                score[j] = tilewright_high(upper * 256 + lower, factor);
                high = tilewright_larger(high, score[j]);
            }
            const int32_t shift = state[0];
            if (high > state[1]) {
                tilewright_attention_raise(state, high, sums, ${k.value_depth}, coarse, fine);
            }
% if not together:
            for (int j = 0; j < rows; j++) {
${share("score[j]")}\
                score[j] = share;
            }
            for (int e = 0; e < ${k.value_bytes}; e += 4) {
${mixed("value", "score[j]", columns, 4)}\
            }
            values += rows * ${k.value_bytes};
% else:
            {
${mixed("values", "", everything, k.value_bytes)}\
            }
% endif
            state[2] = (int32_t)((uint32_t)state[2] + total);
        }
        if (count != 0) {
            tilewright_attention_results(state, most_value * ${k.unit}, sums, ${k.value_depth});
        }
    }
}
