/* x times the line (x + 3) / 6 within [0, 1]. */
static inline uint32_t tilewright_whole_hard_swish(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u, mantissa = tilewright_whole_mantissa(x);
    const uint32_t exponent = tilewright_whole_exponent(x);
    const uint32_t size = exponent > 128u ? 0x40000000u : exponent > 98u ? mantissa >> (130u - exponent) : 0u; /* 2^28 for 1 */
    const uint32_t reached = sign != 0u ? (size < 0x30000000u ? 0x30000000u - size : 0u) : size < 0x30000000u ? size + 0x30000000u : 0x60000000u;
    const uint32_t share = tilewright_whole_upper(reached, 2863311531u) << 1; /* a sixth, 2^31 for 1 */
    if (exponent == 255u) {
        return tilewright_whole_times(x, sign != 0u ? 0u : 0x3F800000u);
    }
    return exponent == 0u ? sign : sign | tilewright_whole_float((int32_t)tilewright_whole_upper(mantissa, share), (int)exponent - 157);
}
