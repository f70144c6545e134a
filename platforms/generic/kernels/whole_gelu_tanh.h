/* x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))). */
static inline uint32_t tilewright_whole_gelu_tanh(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u, mantissa = tilewright_whole_mantissa(x);
    const uint32_t exponent = tilewright_whole_exponent(x);
    const uint32_t size = exponent > 130u ? 0xFFFFFFFFu : exponent > 98u ? mantissa >> (130u - exponent) : 0u; /* 2^28 for 1 */
    const uint32_t factor = 107090253u + tilewright_whole_upper(tilewright_whole_upper(size, size), 1225866409u); /* 2^26 for 1 */
    const int32_t value = (int32_t)tilewright_whole_upper(mantissa, factor);
    const uint32_t turned = exponent > 130u ? x : exponent == 0u ? 0u : sign | tilewright_whole_float(value, (int)exponent - 152);
    return tilewright_whole_times(x, exponent > 130u ? (sign != 0u ? 0u : 0x3F800000u) : tilewright_whole_sigmoid(turned));
}
