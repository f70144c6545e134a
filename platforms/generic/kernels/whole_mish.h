/* x * n / (n + 2) with n = exp(x) * (exp(x) + 2). */
static inline uint32_t tilewright_whole_mish(uint32_t x)
{
    const tilewright_whole_turn turn = tilewright_whole_turns(x);
    const uint32_t sign = x & 0x80000000u, exponent = tilewright_whole_exponent(x);
    const uint32_t power = tilewright_whole_power(turn.rest), left = tilewright_whole_left(power, turn.whole);
    const uint32_t square = tilewright_whole_upper(left << 1, left << 1); /* 2^30 for 1, as left */
    /* above the line 2^29 for 1, and 2^(29 + whole) where x is negative; below it 2^28 */
    const uint32_t above = sign != 0u ? tilewright_whole_upper(power << 1, left + 0x80000000u) : left + 0x20000000u;
    uint32_t below = sign != 0u ? (square >> 2) + (left >> 1) + 0x20000000u : (square >> 1) + (left >> 1) + 0x10000000u;
    int power_of_two = (int)exponent - (sign != 0u ? 157 + (int)turn.whole : 157);
    uint32_t value;
    if (exponent == 0u) {
        return sign;
    }
    if (exponent == 255u) {
        return tilewright_whole_times(x, sign != 0u ? 0u : 0x3F800000u);
    }
    while (below >> 30 == 0u) {
        below <<= 1;
        power_of_two += 1;
    }
    value = tilewright_whole_upper(above << 1, tilewright_fixed_reciprocal(below) << 1);
    value = tilewright_whole_upper(tilewright_whole_mantissa(x), value);
    return sign | tilewright_whole_float((int32_t)value, power_of_two);
}
