<%
held = k.depth <= 16
together = next(size for size in ((2, 1) if k.four else (4, 1)) if k.value_bytes % size == 0)
byte = "uint8_t" if k.four else "int8_t"
def part(row, at, high):  # a code of a row, in bytes of eight or of four bits
    if not k.four:
        return f"{row}[{at}]"
    return f"(int8_t)({row}[{at}] & 240)" if high else f"(int8_t)(uint8_t)({row}[{at}] << 4)"
def code(row, e):
    return part(row, e % k.key_bytes, e >= k.key_bytes)
columns = [(at, high) for high in ((False, True) if k.four else (False,)) for at in range(together)]
def place(at, high):
    return " + ".join(["sums", "e"] + [str(n) for n in (at + high * k.value_bytes,) if n])
%>\
static void ${f.name}(${f.parameters})
{
    int32_t *const key_factor = (int32_t *)scratch, *const value_factor = key_factor + ${k.block};
    int32_t *const score = value_factor + ${k.block};
    int32_t *const lines = score + ${k.block}; /* shift, highest score and sum of powers of each */
    int16_t *const queries = (int16_t *)(lines + ${3 * k.lines});
    const int64_t asked = length[0];
    const int count = asked < 0 ? 0 : asked > ${k.rows} ? ${k.rows} : (int)asked;
% if k.fixed:
<% form = k.fixed %>\
    const int32_t most_key = tilewright_fixed_largest(k_most, count), most_value = tilewright_fixed_largest(v_most, count);
    const int key_room = tilewright_fixed_room((uint32_t)most_key), value_room = tilewright_fixed_room((uint32_t)most_value);
    const uint32_t key_share = tilewright_fixed_reciprocal((uint32_t)most_key << key_room);
    const uint32_t value_share = tilewright_fixed_reciprocal((uint32_t)most_value << value_room);
    const int32_t query_unit = 2 * tilewright_fixed_high((int32_t)((uint32_t)most_key << key_room), ${form.query});
    const int32_t unit = 2 * tilewright_fixed_high((int32_t)((uint32_t)most_value << value_room), ${form.unit});
% else:
    const float most_key = tilewright_attention_most(k_most, count, 1e-20f);
    const float most_value = tilewright_attention_most(v_most, count, 1e-30f);
    const float key_ratio = 1073741824.0f / most_key, value_ratio = ${4 * k.share}.0f / most_value;
% endif
    (void)memset(y, 0, ${4 * k.lines * k.value_depth});
    for (int line = 0; line < ${k.lines}; line++) {
% if k.fixed:
        lines[3 * line] = tilewright_fixed_query(q + line * ${k.depth}, ${k.depth}, query_unit, ${form.query_exponent} - key_room, ${form.limit}, queries + line * ${k.depth});
% else:
        lines[3 * line] = tilewright_attention_query(q + line * ${k.depth}, ${k.depth}, most_key * ${k.factor}, ${k.query}.0f, 0, queries + line * ${k.depth});
% endif
        lines[3 * line + 1] = INT32_MIN / 2;
        lines[3 * line + 2] = 0;
    }
    for (int begin = 0; begin < count; begin += ${k.block}) {
        const int rows = count - begin < ${k.block} ? count - begin : ${k.block};
        for (int j = 0; j < rows; j++) {
% if k.fixed:
            key_factor[j] = 4 * tilewright_fixed_part(k_most[begin + j], key_room, key_share);
            value_factor[j] = tilewright_fixed_high(4 * tilewright_fixed_part(v_most[begin + j], value_room, value_share), ${16 * form.share});
% else:
            key_factor[j] = tilewright_attention_factor(k_most[begin + j], key_ratio);
            value_factor[j] = tilewright_attention_factor(v_most[begin + j], value_ratio);
% endif
        }
        for (int line = 0; line < ${k.lines}; line++) {
            const int16_t *const query = queries + line * ${k.depth};
            const ${byte} *key = k + (line / ${k.queries} * ${k.rows} + begin) * ${k.key_bytes};
            const ${byte} *const values = v + (line / ${k.queries} * ${k.rows} + begin) * ${k.value_bytes};
            ${"int32_t" if k.fixed else "float"} *const sums = y + line * ${k.value_depth};
            int32_t *const state = lines + 3 * line, high = state[1];
            uint32_t total = 0;
% if held:
            const int32_t ${", ".join(f"x{e} = query[{e}]" for e in range(k.depth))};
% endif
            for (int j = 0; j < rows; j++) {
% if held:
                const int32_t sum = ${" + ".join(f"x{e} * {code('key', e)}" for e in range(k.depth))};
% else:
                int32_t sum = 0;
                for (int e = 0; e < ${k.key_bytes}; e++) {
                    sum += query[e] * ${part("key", "e", False)};
% if k.four:
                    sum += query[e + ${k.key_bytes}] * ${part("key", "e", True)};
% endif
                }
% endif
                key += ${k.key_bytes};
                score[j] = (int32_t)((int64_t)sum * key_factor[j] >> 32);
                high = score[j] > high ? score[j] : high;
            }
            if (high > state[1]) {
                tilewright_${"fixed" if k.fixed else "attention"}_raise(state, high, sums, ${k.value_depth}, coarse, fine);
            }
            for (int j = 0; j < rows; j++) {
                const uint32_t power = tilewright_attention_power(coarse, fine, tilewright_attention_step(high, score[j], state[0]));
                total += power >> ${k.total_shift};
                score[j] = (int32_t)(((int64_t)power * value_factor[j] + 2147483648LL) >> 32); /* its share */
            }
            state[2] = (int32_t)((uint32_t)state[2] + total);
            for (int e = 0; e < ${k.value_bytes}; e += ${together}) {
                const ${byte} *value = values + e;
                int32_t ${", ".join(f"sum{n}" for n in range(len(columns)))};
% for n, column in enumerate(columns):
                (void)memcpy(&sum${n}, ${place(*column)}, sizeof sum${n});
% endfor
                for (int j = 0; j < rows; j++) {
% for n, column in enumerate(columns):
                    sum${n} += score[j] * ${part("value", *column)};
% endfor
                    value += ${k.value_bytes};
                }
% for n, column in enumerate(columns):
                (void)memcpy(${place(*column)}, &sum${n}, sizeof sum${n});
% endfor
            }
        }
    }
    for (int line = 0; count != 0 && line < ${k.lines}; line++) {
% if k.fixed:
        tilewright_fixed_results((uint32_t)lines[3 * line + 2], unit, ${form.unit_exponent} - value_room, y + line * ${k.value_depth}, ${k.value_depth});
% else:
        tilewright_attention_results(lines + 3 * line, most_value * ${k.unit}, y + line * ${k.value_depth}, ${k.value_depth});
% endif
    }
}
