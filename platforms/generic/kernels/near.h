/* 1 where the pair of codes, bytes of a before those of b, is in the ascending list; else 0. */
static int tilewright_listed(const uint16_t *pairs, int count, int32_t a, int32_t b)
{
    const uint32_t pair = ((uint32_t)a & 255u) << 8 | ((uint32_t)b & 255u);
    int first = 0;
    while (count > 0) {
        const int half = count / 2;
        if (pairs[first + half] == pair) {
            return 1;
        }
        if (pairs[first + half] < pair) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return 0;
}

/* The word without its fraction; one more for listed pairs, whose fractions are at least `window`. */
static inline int32_t tilewright_near32(
    int32_t word, int shift, int32_t window, const uint16_t *pairs, int count, int32_t a, int32_t b)
{
    const int32_t code = word >> shift;
    return (word & ((INT32_C(1) << shift) - 1)) < window ? code : code + tilewright_listed(pairs, count, a, b);
}

static inline int64_t tilewright_near64(
    int64_t word, int shift, int64_t window, const uint16_t *pairs, int count, int32_t a, int32_t b)
{
    const int64_t code = word >> shift;
    return (word & ((INT64_C(1) << shift) - 1)) < window ? code : code + tilewright_listed(pairs, count, a, b);
}
