<%
step = 8 if k.value_depth % 8 == 0 and not k.four else 4
columns = (0, k.value_bytes) if k.four else tuple(range(0, step, 4))
parts = [(line, e) for line in range(2) for e in columns]
byte = "uint8_t" if k.four else "int8_t"
def bytes_at(row, e, line=0):
    return " + ".join([row, e] + ([str(line * k.key_bytes)] if line else []))
def place(line, e):
    return " + ".join(["y", "e"] + ([str(line * k.value_depth + e)] if line or e else []))
%>\
/* Scores of one query; gives the highest, or the one before where that is higher. */
TILEWRIGHT_MVE int32_t ${f.name}_scores(const ${byte} *key, const int16_t *query, const int32_t *factor, int32_t *score, int rows, int32_t high)
{
    for (int j = 0; j < rows; j += 4) {
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
% if k.four:
        for (int e = 0; e < ${k.key_bytes}; e += 4) {
            const int32x4_t first = vldrhq_s32(query + e), second = vldrhq_s32(query + e + ${k.key_bytes});
% for n in range(4):
            const int32x4_t row${n} = vldrbq_s32((const int8_t *)(${bytes_at("key", "e", n)}));
% endfor
% for n in range(4):
            s${n} = vmladavaq_s32(s${n}, first, tilewright_mve_low_codes(row${n}));
            s${n} = vmladavaq_s32(s${n}, second, tilewright_mve_high_codes(row${n}));
% endfor
        }
% else:
        for (int e = 0; e < ${k.depth}; e += 8) {
            const int16x8_t part = vldrhq_s16(query + e);
% for n in range(4):
            s${n} = vmladavaq_s16(s${n}, part, vldrbq_s16(${bytes_at("key", "e", n)}));
% endfor
        }
% endif
        const int32x4_t four = vmulhq_s32(tilewright_mve_four(s0, s1, s2, s3), vldrwq_s32(factor + j));
        vstrwq_s32(score + j, four);
        high = vmaxvq_p_s32(high, four, vctp32q((uint32_t)rows - (uint32_t)j));
        key += ${4 * k.key_bytes};
    }
    return high;
}

/* Shares in the place of the scores of one query; gives the sum of their powers. */
TILEWRIGHT_MVE uint32_t ${f.name}_shares(int32_t *score, int32_t high, int32_t shift, const int32_t *factor, const uint16_t *coarse, const uint16_t *fine, int rows)
{
    const uint32x4_t top = vdupq_n_u32((uint32_t)high + ((uint32_t)1 << shift >> 1));
    const int32x4_t right = vdupq_n_s32(-shift);
    const uint32x4_t last = vdupq_n_u32(65535);
    uint32_t total = 0;
    for (int j = 0; j < rows; j += 4) {
        const uint32x4_t less = vsubq_u32(top, vreinterpretq_u32_s32(vldrwq_s32(score + j)));
        const uint32x4_t steps = vminq_u32(vshlq_u32(less, right), last);
        const uint32x4_t first = vldrhq_gather_shifted_offset_u32(coarse, vandq_u32(vshrq_n_u32(steps, 5), vdupq_n_u32(63)));
        const uint32x4_t second = vldrhq_gather_shifted_offset_u32(fine, vandq_u32(steps, vdupq_n_u32(31)));
        const int32x4_t halvings = vnegq_s32(vreinterpretq_s32_u32(vshrq_n_u32(steps, 11)));
        const uint32x4_t power = vshlq_u32(vmulq_u32(first, second), halvings);
        total = vaddvaq_p_u32(total, vshrq_n_u32(power, ${k.total_shift}), vctp32q((uint32_t)rows - (uint32_t)j));
        vstrwq_s32(score + j, vrmulhq_s32(vreinterpretq_s32_u32(power), vldrwq_s32(factor + j)));
    }
    return total;
}

% for queries in sorted({2} & {2 * bool(k.queries // 2)} | {1} & {k.queries % 2}, reverse=True):
/* Adds the values of a block to the sums of ${"two queries" if queries == 2 else "a query"}. */
TILEWRIGHT_MVE void ${f.name}_sums_of_${queries}(const ${byte} *values, const int32_t *shares, int rows, float *y)
{
    for (int e = 0; e < ${k.value_bytes}; e += ${step}) {
        const ${byte} *value = values + e;
% for line, part in parts:
% if line < queries:
        int32x4_t sum${line}${part} = vreinterpretq_s32_f32(vldrwq_f32(${place(line, part)}));
% endif
% endfor
        for (int j = 0; j < rows; j++) {
% if k.four:
            const int32x4_t row = vldrbq_s32((const int8_t *)value);
            const int32x4_t four0 = tilewright_mve_low_codes(row), four${k.value_bytes} = tilewright_mve_high_codes(row);
% else:
% for part in range(0, step, 4):
            const int32x4_t four${part} = vldrbq_s32(value${f" + {part}" if part else ""});
% endfor
% endif
% for line, part in parts:
% if line < queries:
            sum${line}${part} = vmlaq_n_s32(sum${line}${part}, four${part}, shares[j${f" + {k.block}" if line else ""}]);
% endif
% endfor
            value += ${k.value_bytes};
        }
% for line, part in parts:
% if line < queries:
        vstrwq_f32(${place(line, part)}, vreinterpretq_f32_s32(sum${line}${part}));
% endif
% endfor
    }
}

% endfor
/* A block of rows for one query: its shares, with the sums of before made less where a score is higher. */
static void ${f.name}_line(const ${byte} *key, const int16_t *query, const int32_t *factors, int32_t *score, int rows, int32_t *line, float *sums, const uint16_t *coarse, const uint16_t *fine)
{
    const int32_t high = ${f.name}_scores(key, query, factors, score, rows, line[1]);
    if (high > line[1]) {
        tilewright_attention_raise(line, high, sums, ${k.value_depth}, coarse, fine);
    }
    line[2] = (int32_t)((uint32_t)line[2] + ${f.name}_shares(score, high, line[0], factors + ${k.block}, coarse, fine, rows));
}

static void ${f.name}(${f.parameters})
{
    int32_t *const factors = (int32_t *)(void *)scratch, *const shares = factors + ${2 * k.block}; /* of two queries */
    int32_t *const lines = shares + ${2 * k.block}; /* shift, highest score and sum of powers of each */
    int16_t *const queries = (int16_t *)(lines + ${3 * k.lines});
    const int64_t asked = length[0];
    const int count = asked < 0 ? 0 : asked > ${k.rows} ? ${k.rows} : (int)asked;
    const float most_key = tilewright_attention_most(k_most, count, 1e-20f);
    const float most_value = tilewright_attention_most(v_most, count, 1e-30f);
    const float key_ratio = 1073741824.0f / most_key, value_ratio = ${4 * k.share}.0f / most_value;
    (void)memset(y, 0, ${4 * k.lines * k.value_depth});
    for (int line = 0; line < ${k.lines}; line++) {
        lines[3 * line] = tilewright_attention_query(q + line * ${k.depth}, ${k.depth}, most_key * ${k.factor}, ${k.query}.0f, 0, queries + line * ${k.depth});
        lines[3 * line + 1] = INT32_MIN / 2;
        lines[3 * line + 2] = 0;
    }
    for (int begin = 0; begin < count; begin += ${k.block}) {
        const int rows = count - begin < ${k.block} ? count - begin : ${k.block};
        for (int j = 0; j < rows; j++) {
            factors[j] = tilewright_attention_factor(k_most[begin + j], key_ratio);
            factors[${k.block} + j] = tilewright_attention_factor(v_most[begin + j], value_ratio);
        }
        for (int line = 0; line < ${k.lines}; line++) {
            const int head = line / ${k.queries}, of = line % ${k.queries}, odd = of % 2;
            const ${byte} *const values = v + (head * ${k.rows} + begin) * ${k.value_bytes};
            float *const sums = y + line * ${k.value_depth};
            ${f.name}_line(k + (head * ${k.rows} + begin) * ${k.key_bytes}, queries + line * ${k.depth}, factors, shares + odd * ${k.block}, rows, lines + 3 * line, sums, coarse, fine);
% if k.queries // 2:
            if (odd) {
                ${f.name}_sums_of_2(values, shares, rows, sums - ${k.value_depth});
            }
% endif
% if k.queries % 2:
            if (of == ${k.queries - 1}) {
                ${f.name}_sums_of_1(values, shares, rows, sums);
            }
% endif
        }
    }
    for (int line = 0; count != 0 && line < ${k.lines}; line++) {
        tilewright_attention_results(lines + 3 * line, most_value * ${k.unit}, y + line * ${k.value_depth}, ${k.value_depth});
    }
}
