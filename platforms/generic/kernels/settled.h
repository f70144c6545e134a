/* Bits of a number that is not zero. */
static inline int tilewright_bits_of(uint64_t value)
{
#if defined(__GNUC__)
    return 64 - __builtin_clzll(value);
#else
    int bits = 1;
    for (int step = 32; step > 0; step /= 2) {
        bits += value >> (bits - 1 + step) > 0u ? step : 0;
    }
    return bits;
#endif
}

/* The value rounded to 24 significant bits, ties to even, as float32 does; the bits that its units grow by. */
static int tilewright_to_24_bits(int64_t *value)
{
    uint64_t size = *value < 0 ? (uint64_t)0 - (uint64_t)*value : (uint64_t)*value;
    int dropped = 0;
    if (size >> 24 > 0u) {
        dropped = tilewright_bits_of(size) - 24;
        size = (size + ((uint64_t)1 << (dropped - 1)) - 1u + (size >> dropped & 1u)) >> dropped;
    }
    *value = *value < 0 ? -(int64_t)size : (int64_t)size;
    return dropped;
}

/*
 * 1 where float32 arithmetic gives code + 1, 0 where it gives `code`: which of both, since the result lies next to the
 * tie between them. `a` and `b` are codes less their zero points, `code` too. Numbers: mantissas of the three scales,
 * bits to shift each product by, the exponent of their sum or product over the result's step, and how they are joined.
 */
static int tilewright_settled(int32_t code, int32_t a, int32_t b, const int32_t *numbers)
{
    int64_t left = (int64_t)a * numbers[0], right = (int64_t)b * numbers[1], tie = 2 * (int64_t)code + 1;
    int bits = tilewright_to_24_bits(&left), more = tilewright_to_24_bits(&right), even = (code & 1) == 0;
    if (numbers[6] == 0) {
        left *= right;
        bits += more;
    } else {
        left = left * ((int64_t)1 << (bits + numbers[3])) + right * ((int64_t)1 << (more + numbers[4])) * numbers[6];
        bits = 0;
    }
    bits += tilewright_to_24_bits(&left) + (int)numbers[5] + 1;
    if (tie < 0) { /* the other side of zero is alike */
        tie = -tie;
        left = -left;
    }
    /* The tie with 26 bits: float32's neighbours are 4 away, the middle to them 2, below a power of two 1. */
    const int spare = 26 - tilewright_bits_of((uint64_t)tie);
    tie *= (int64_t)1 << spare;
    bits += spare;
    if (left <= 0 || bits < 0) {
        return code < 0;
    }
    left = left * ((int64_t)1 << bits);
    right = numbers[2] * (tie - (tie == INT64_C(1) << 25 ? 1 : 2));
    if (left < right) {
        return code < 0;
    }
    right = numbers[2] * (tie + 2);
    if (left > right) {
        return code >= 0;
    }
    return !even;
}

/* The word without its fraction; where that lies within `window` of a tie, the codes themselves decide. */
static inline int32_t tilewright_settled32(
    int32_t word, int shift, int32_t window, int32_t zero, int32_t a, int32_t b, const int32_t *numbers)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1u), rest = word & mask;
    const int32_t code = tilewright_floor(word, (uint32_t)shift);
    if (((rest + window) & mask) >= 2 * window) {
        return code;
    }
    return rest < window ? code - 1 + tilewright_settled(code - 1 - zero, a, b, numbers) : code + tilewright_settled(code - zero, a, b, numbers);
}

static inline int32_t tilewright_settled64(
    int64_t word, int shift, int64_t window, int32_t zero, int32_t a, int32_t b, const int32_t *numbers)
{
    const int64_t mask = ((int64_t)1 << shift) - 1, rest = word & mask;
    const int32_t code = (int32_t)(word >> shift);
    if (((rest + window) & mask) >= 2 * window) {
        return code;
    }
    return rest < window ? code - 1 + tilewright_settled(code - 1 - zero, a, b, numbers) : code + tilewright_settled(code - zero, a, b, numbers);
}
