/* x * n / (n + 2) with n = exp(x) * (exp(x) + 2). */
static inline uint32_t tilewright_whole_mish(uint32_t x)
{
    const tilewright_whole_turn turn = tilewright_whole_turns(x);
    const int exponent = (int)(x >> 23 & 255u) - 127, whole = (int)turn.whole;
    const uint32_t power = tilewright_whole_power(turn.rest), left = tilewright_whole_left(power, turn.whole);
    const uint32_t square = tilewright_whole_upper(left << 1, left << 1); /* 2^30 for 1, as left */
    const int negative = x >> 31 != 0u;
    /* above the line 2^29 for 1, and 2^(29 + whole) where x is negative; below it 2^28 */
    const uint32_t above = negative ? tilewright_whole_upper(power << 1, left + 0x80000000u) : left + 0x20000000u;
    uint32_t below = (negative ? (square >> 2) + (left >> 1) + 0x20000000u : (square >> 1) + (left >> 1) + 0x10000000u);
    int shift = 0;
    uint32_t value;
    if (exponent < -126 || exponent == 128) {
        const uint32_t infinite = negative ? 0x7FC00000u : x;
        return exponent < 0 ? x & 0x80000000u : x << 1 > 0xFF000000u ? x : infinite;
    }
    for (; below >> 30 == 0u; shift++) {
        below <<= 1;
    }
    value = tilewright_whole_upper(above << 1, tilewright_fixed_reciprocal(below) << 1);
    value = tilewright_whole_upper(tilewright_whole_mantissa(x), value);
    return (x & 0x80000000u) | tilewright_whole_float((int32_t)value, exponent + shift - (negative ? 30 + whole : 30));
}
