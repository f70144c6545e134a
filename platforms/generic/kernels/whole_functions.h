/* Functions of floats as their bits, in whole numbers. What is below the smallest normal number counts as zero. */

/* 2^32 for 1. */
static inline uint32_t tilewright_whole_upper(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

/* The mantissa of a float, 2^31 for 1. */
static inline uint32_t tilewright_whole_mantissa(uint32_t bits)
{
    return ((bits & 0x7FFFFFu) | 0x800000u) << 8;
}

/* The exponent of a float, 127 for 2^0. */
static inline uint32_t tilewright_whole_exponent(uint32_t bits)
{
    return bits >> 23 & 255u;
}

/* The float nearest to value * 2^exponent, with this sign; value is at least 2^29 and at most 2^31. */
static inline uint32_t tilewright_whole_packed(uint32_t sign, uint32_t value, int exponent)
{
    int power = exponent + 156;
    if (value >> 30 == 0u) {
        value <<= 1;
        power -= 1;
    }
    /* the bit above the 23 adds one to the exponent */
    return power < 0 ? sign : power > 253 ? sign | 0x7F800000u : sign + ((uint32_t)power << 23) + ((value + 64u) >> 7);
}

/* A product of floats. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_whole_times(uint32_t a, uint32_t b)
{
    const uint32_t sign = (a ^ b) & 0x80000000u, left = tilewright_whole_exponent(a), right = tilewright_whole_exponent(b);
    const uint32_t value = tilewright_whole_upper(tilewright_whole_mantissa(a), tilewright_whole_mantissa(b) >> 1);
    const uint32_t both = left + right;
    if (left == 255u || right == 255u) {
        const uint32_t other = left == 255u ? b << 1 : a << 1;
        return a << 1 > 0xFF000000u || b << 1 > 0xFF000000u || other == 0u ? 0x7FC00000u : sign | 0x7F800000u;
    }
    return left == 0u || right == 0u ? sign : tilewright_whole_packed(sign, value, (int)both - 283);
}

/* A number in turns, which are powers of 2: `whole` ones and 2^31 for the rest. */
typedef struct {
    uint32_t whole;
    uint32_t rest;
} tilewright_whole_turn;

/* The size of a float times log2(e); from 2^7 on as many turns as leave nothing. */
static inline tilewright_whole_turn tilewright_whole_turns(uint32_t bits)
{
    const uint32_t exponent = tilewright_whole_exponent(bits);
    const uint32_t turns = tilewright_whole_upper(tilewright_whole_mantissa(bits), 3098164009u); /* 2^(157 - exponent) for 1 */
    tilewright_whole_turn turn = {0, 0};
    if (exponent > 133u) {
        turn.whole = 255;
    } else if (exponent > 125u) {
        turn.whole = turns >> (157u - exponent);
        turn.rest = turns << (exponent - 126u) & 0x7FFFFFFFu;
    } else if (exponent > 95u) {
        turn.rest = turns >> (126u - exponent);
    } else {
        turn.rest = 0;
    }
    return turn;
}

/* 2 to the power of -rest, 2^31 for 1 of rest and 2^30 for 1 of the power: a polynomial within 1.5e-8 of it. */
static inline uint32_t tilewright_whole_power(uint32_t rest)
{
    const int32_t turn = (int32_t)rest;
    int32_t power = -1369601 + 2 * tilewright_fixed_high(117391, turn);
    power = 10286296 + 2 * tilewright_fixed_high(power, turn);
    power = -59582935 + 2 * tilewright_fixed_high(power, turn);
    power = 257938912 + 2 * tilewright_fixed_high(power, turn);
    power = -744260973 + 2 * tilewright_fixed_high(power, turn);
    power = 1073741824 + 2 * tilewright_fixed_high(power, turn);
    return (uint32_t)power;
}

/* A power of 2, 2^30 for 1. */
static inline uint32_t tilewright_whole_left(uint32_t power, uint32_t whole)
{
    return whole < 31u ? power >> whole : 0u;
}
