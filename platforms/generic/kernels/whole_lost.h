/* exp(x) - 1 of what is not above zero; a power series from -2^-3 on. */
static inline uint32_t tilewright_whole_lost(uint32_t x)
{
    const uint32_t exponent = tilewright_whole_exponent(x);
    uint32_t bits;
    if (x << 1 > 0xFF000000u || exponent == 0u) {
        bits = x;
    } else if (exponent < 124u) {
        const uint32_t mantissa = tilewright_whole_mantissa(x), size = exponent > 95u ? mantissa >> (126u - exponent) : 0u;
        uint32_t value = 178841912u - tilewright_whole_upper(size, 34326138u); /* 2^32 for 1, as size */
        value = 715824926u - tilewright_whole_upper(size, value);
        value = 2147483634u - tilewright_whole_upper(size, value);
        value = 0x80000000u - (tilewright_whole_upper(size, value) >> 1); /* 2^31 for 1 */
        bits = tilewright_whole_packed(0x80000000u, tilewright_whole_upper(mantissa, value), (int)exponent - 157);
    } else {
        const tilewright_whole_turn turn = tilewright_whole_turns(x);
        const uint32_t lost = 0x40000000u - tilewright_whole_left(tilewright_whole_power(turn.rest), turn.whole);
        bits = 0x80000000u | tilewright_whole_float((int32_t)lost, -30);
    }
    return bits;
}
