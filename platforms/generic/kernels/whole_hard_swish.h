/* x times the line (x + 3) / 6 within [0, 1]. */
static inline uint32_t tilewright_whole_hard_swish(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u, mantissa = tilewright_whole_mantissa(x);
    const int exponent = (int)(x >> 23 & 255u) - 127;
    const uint32_t size = exponent > 1 ? 0x40000000u : exponent > -28 ? mantissa >> (3 - exponent) : 0u; /* 2^28 for 1 */
    const uint32_t reached = sign != 0u ? (size < 0x30000000u ? 0x30000000u - size : 0u) : size < 0x30000000u ? size + 0x30000000u : 0x60000000u;
    const uint32_t share = tilewright_whole_upper(reached, 2863311531u) << 1; /* a sixth, 2^31 for 1 */
    if (exponent == 128) {
        return tilewright_whole_times(x, sign != 0u ? 0u : 0x3F800000u);
    }
    return exponent < -126 ? sign : sign | tilewright_whole_float((int32_t)tilewright_whole_upper(mantissa, share), exponent - 30);
}
