/* Attention in whole numbers: what every core computes alike. */

/* The part of the largest element that a row has; nothing where that is no number. */
static inline int32_t tilewright_attention_factor(float most, float ratio)
{
    const float scaled = most * ratio;
    return scaled > 0 ? (int32_t)scaled : 0;
}

static inline float tilewright_attention_most(const float *most, int count, float least)
{
    for (int j = 0; j < count; j++) {
        least = most[j] > least ? most[j] : least;
    }
    return least;
}

/* A query as whole numbers; the bits that differences of its scores are shifted by. In pairs of elements 0 and 2, 1
 * and 3 of every four where `paired`. */
static inline int32_t tilewright_attention_query(const float *q, int depth, float unit, float limit, int paired, int16_t *to)
{
    float most = 1e-30f, room, factor;
    int32_t exponent, bits;
    for (int e = 0; e < depth; e++) {
        const float size = q[e] < 0 ? -q[e] : q[e];
        most = size > most ? size : most;
    }
    room = limit / (unit * most);
    (void)memcpy(&exponent, &room, sizeof exponent);
    exponent = (exponent >> 23 & 255) - 127;
    exponent = exponent < 2 ? 2 : exponent > 32 ? 32 : exponent;
    bits = (exponent + 127) << 23;
    (void)memcpy(&factor, &bits, sizeof factor);
    factor *= unit;
    for (int e = 0; e < depth; e++) {
        const float scaled = q[e] * factor;
        const float limited = scaled > limit ? limit : scaled >= -limit ? scaled : -limit;
        const float shifted = limited + 12582912.0f; /* 3 * 2^22: the last bits are the nearest whole number */
        const int at = paired ? (e & ~3) | (e & 1) << 1 | (e >> 1 & 1) : e;
        (void)memcpy(&bits, &shifted, sizeof bits);
        to[at] = (int16_t)(bits - 0x4B400000);
    }
    return exponent - 2;
}

/* `line` is shift, highest score and sum of powers; `sums` lie where results will. */
static inline void tilewright_attention_raise(int32_t *line, int32_t high, float *sums, int width, const uint16_t *coarse, const uint16_t *fine)
{
    const uint32_t power = tilewright_attention_power(coarse, fine, tilewright_attention_step(high, line[1], line[0]));
    line[1] = high;
    if (line[2] == 0) {
        return; /* nothing is summed yet */
    }
    line[2] = (int32_t)((uint64_t)(uint32_t)line[2] * power >> 30);
    for (int e = 0; e < width; e++) {
        int32_t sum;
        (void)memcpy(&sum, sums + e, sizeof sum);
        sum = (int32_t)((int64_t)sum * (int32_t)power >> 30);
        (void)memcpy(sums + e, &sum, sizeof sum);
    }
}

/* Sums as results. */
static inline void tilewright_attention_results(const int32_t *line, float unit, float *y, int width)
{
    const float share = unit / (float)(uint32_t)line[2];
    for (int e = 0; e < width; e++) {
        int32_t sum;
        (void)memcpy(&sum, y + e, sizeof sum);
        y[e] = (float)sum * share;
    }
}
