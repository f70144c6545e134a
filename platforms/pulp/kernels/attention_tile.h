/* One tile of attention: queries of all heads, and how many belong to one. */
typedef struct {
    int lines, queries;
} tilewright_attention_tile;

/* A query as whole numbers, words of their high bytes, then those of low bytes; the bits that differences of its scores
 * are shifted by. */
static inline uint32_t tilewright_attention_words(const float *q, int depth, float unit, float limit, uint32_t *high, uint32_t *low)
{
    const float rounding = tilewright_float(0x4B400000u); /* 3 * 2^22: the last bits are the nearest whole number */
    const int32_t largest = tilewright_largest(q, depth, tilewright_float(0x0DA24260u), 0x7FFFFFFFu);
    float most, reach, factor;
    int32_t exponent, bits, limit_bits;
    (void)memcpy(&most, &largest, sizeof most);
    reach = unit * most;
    (void)memcpy(&bits, &reach, sizeof bits);
    (void)memcpy(&limit_bits, &limit, sizeof limit_bits);
    exponent = (limit_bits - bits) >> 23; /* that of limit / reach, rounded down */
    exponent = exponent < 2 ? 2 : exponent > 32 ? 32 : exponent;
    bits = (exponent + 127) << 23;
    (void)memcpy(&factor, &bits, sizeof factor);
    factor *= unit;
    for (int e = 0; e < depth; e += 4) {
        uint32_t upper = 0, lower = 0;
        for (int i = 3; i >= 0; i--) {
            const float shifted = tilewright_limited(q[e + i] * factor, limit) + rounding;
            (void)memcpy(&bits, &shifted, sizeof bits);
            upper = upper << 8 | ((uint32_t)bits >> 8 & 255u);
            lower = lower << 8 | ((uint32_t)bits & 255u);
        }
        *high++ = upper;
        *low++ = lower;
    }
    return (uint32_t)(exponent - 2);
}

/* What is summed so far, less by the steps from the highest score until now to a higher one. */
static inline uint32_t tilewright_attention_less(float *sums, int width, uint32_t total, uint32_t power)
{
    for (int e = 0; e < width; e++) {
        const int64_t sum = (int32_t)tilewright_word(sums + e);
        tilewright_put_word(sums + e, (uint32_t)(sum * (int32_t)power >> 30));
    }
    return (uint32_t)((uint64_t)total * power >> 30);
}
