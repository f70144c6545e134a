/* x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))). */
static inline uint32_t tilewright_whole_gelu_tanh(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u, mantissa = tilewright_whole_mantissa(x);
    const int exponent = (int)(x >> 23 & 255u) - 127;
    const uint32_t size = exponent > 3 ? 0xFFFFFFFFu : exponent > -29 ? mantissa >> (3 - exponent) : 0u; /* 2^28 for 1 */
    const uint32_t factor = 107090253u + tilewright_whole_upper(tilewright_whole_upper(size, size), 1225866409u); /* 2^26 for 1 */
    const int32_t value = (int32_t)tilewright_whole_upper(mantissa, factor);
    const uint32_t turned = exponent > 3 ? x : exponent < -126 ? 0u : sign | tilewright_whole_float(value, exponent - 25);
    return tilewright_whole_times(x, exponent > 3 ? (sign != 0u ? 0u : 0x3F800000u) : tilewright_whole_sigmoid(turned));
}
