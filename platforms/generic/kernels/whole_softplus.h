/* The larger of x and 0, and log(1 + left) with left = exp(-|x|), which is left times a polynomial. */
static inline uint32_t tilewright_whole_softplus(uint32_t x)
{
    const tilewright_whole_turn turn = tilewright_whole_turns(x);
    const uint32_t exponent = tilewright_whole_exponent(x);
    const uint32_t power = tilewright_whole_power(turn.rest), left = tilewright_whole_left(power, turn.whole) << 1;
    uint32_t sum;
    const int32_t at = left < 0x7FFFFFFFu ? (int32_t)left : 0x7FFFFFFF;
    int32_t value = -32330968 + 2 * tilewright_fixed_high(5780983, at);
    value = 85051187 + 2 * tilewright_fixed_high(value, at);
    value = -147602649 + 2 * tilewright_fixed_high(value, at);
    value = 205568854 + 2 * tilewright_fixed_high(value, at);
    value = -266856406 + 2 * tilewright_fixed_high(value, at);
    value = 357774456 + 2 * tilewright_fixed_high(value, at);
    value = -536866108 + 2 * tilewright_fixed_high(value, at);
    value = 1073741797 + 2 * tilewright_fixed_high(value, at);
    if (x << 1 > 0xFF000000u || (x >> 31 == 0u && exponent > 131u)) {
        return x;
    }
    if (x >> 31 != 0u) {
        return tilewright_whole_float((int32_t)tilewright_whole_upper(power << 1, (uint32_t)value << 1), -30 - (int)turn.whole);
    }
    sum = tilewright_whole_upper(left, (uint32_t)value << 1) >> 4; /* 2^26 for 1 */
    sum += exponent > 100u ? tilewright_whole_mantissa(x) >> (132u - exponent) : 0u;
    return tilewright_whole_float((int32_t)sum, -26);
}
