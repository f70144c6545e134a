/* Attention in fixed point: what floats are elsewhere, in whole numbers. */

/* A row's part of the largest, 2^28 for all of it; `share` is its reciprocal under `room`. */
static inline int32_t tilewright_fixed_part(int32_t most, int room, uint32_t share)
{
    return tilewright_fixed_high((int32_t)((uint32_t)(most > 0 ? most : 0) << room), (int32_t)share);
}

/* The largest of the first rows, 1 at least. */
static inline int32_t tilewright_fixed_largest(const int32_t *most, int count)
{
    int32_t largest = 1;
    for (int j = 0; j < count; j++) {
        largest = most[j] > largest ? most[j] : largest;
    }
    return largest;
}

/* A query as whole numbers up to `limit`; the bits that differences of its scores are shifted by. */
static inline int32_t tilewright_fixed_query(const int32_t *q, int depth, int32_t unit, int exponent, int32_t limit, int16_t *to)
{
    const int32_t most = tilewright_fixed_most(q, depth);
    const int room = tilewright_fixed_room((uint32_t)most);
    const int32_t largest = tilewright_fixed_high((int32_t)((uint32_t)most << room), unit);
    int fits = tilewright_fixed_room((uint32_t)largest) - tilewright_fixed_room((uint32_t)limit), down;
    fits -= largest >> -fits >= limit ? 1 : 0;
    exponent -= room;
    fits -= exponent;
    fits = fits < 2 ? 2 : fits > 32 ? 32 : fits;
    down = -(exponent + fits);
    down = down < 1 ? 1 : down > 31 ? 31 : down;
    for (int e = 0; e < depth; e++) {
        const int32_t product = tilewright_fixed_high((int32_t)((uint32_t)q[e] << room), unit);
        const int32_t scaled = (product + (int32_t)(UINT32_C(1) << (down - 1))) >> down;
        to[e] = (int16_t)(scaled > limit ? limit : scaled < -limit ? -limit : scaled);
    }
    return fits - 2;
}

/* What is summed for a line counts less where its highest score is raised. */
static inline void tilewright_fixed_raise(int32_t *line, int32_t high, int32_t *sums, int width, const uint16_t *coarse, const uint16_t *fine)
{
    const uint32_t power = tilewright_attention_power(coarse, fine, tilewright_attention_step(high, line[1], line[0]));
    line[1] = high;
    if (line[2] == 0) {
        return; /* nothing is summed yet */
    }
    line[2] = (int32_t)((uint64_t)(uint32_t)line[2] * power >> 30);
    for (int e = 0; e < width; e++) {
        sums[e] = (int32_t)((int64_t)sums[e] * (int32_t)power >> 30);
    }
}

/* Sums as results: times the largest value's unit over the sum of powers. */
static inline void tilewright_fixed_results(uint32_t total, int32_t unit, int exponent, int32_t *y, int width)
{
    const int half = total >> 31 != 0 ? 1 : 0;
    const int room = tilewright_fixed_room(total >> half) - half;
    const uint32_t share = tilewright_fixed_reciprocal(room < 0 ? total >> 1 : total << room);
    const int32_t ratio = 2 * tilewright_fixed_high(unit, (int32_t)share);
    const int away = exponent - (31 - room) > -31 ? exponent - (31 - room) : -31;
    for (int e = 0; e < width; e++) {
        y[e] = tilewright_fixed_moved(tilewright_fixed_high(y[e], ratio), away);
    }
}
