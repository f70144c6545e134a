/* (1 - left) / (1 + left) with left = exp(-2 |x|); a power series below 2^-3. */
static inline uint32_t tilewright_whole_tanh(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u;
    const uint32_t exponent = tilewright_whole_exponent(x);
    uint32_t bits;
    if (x << 1 > 0xFF000000u || exponent < 114u) {
        bits = x;
    } else if (exponent < 124u) {
        const uint32_t size = tilewright_whole_mantissa(x) >> (126u - exponent); /* 2^32 for 1 */
        const uint32_t square = tilewright_whole_upper(size, size);
        const uint32_t part = 1431648974u - tilewright_whole_upper(square, 569063097u); /* 2^32 for 1 */
        const uint32_t value = 0x80000000u - (tilewright_whole_upper(square, part) >> 1); /* 2^31 for 1 */
        bits = tilewright_whole_packed(sign, tilewright_whole_upper(tilewright_whole_mantissa(x), value), (int)exponent - 157);
    } else if (exponent > 130u) {
        bits = sign | 0x3F800000u;
    } else {
        const tilewright_whole_turn turn = tilewright_whole_turns(x + 0x800000u);
        const uint32_t left = tilewright_whole_left(tilewright_whole_power(turn.rest), turn.whole);
        const uint32_t share = tilewright_fixed_reciprocal(0x40000000u + left);
        bits = sign | tilewright_whole_float((int32_t)tilewright_fixed_times(0x40000000u - left, share), -30);
    }
    return bits;
}
