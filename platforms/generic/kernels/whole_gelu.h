/* x * (1 + erf(x / sqrt(2))) / 2. */
static inline uint32_t tilewright_whole_gelu(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u, mantissa = tilewright_whole_mantissa(x);
    const uint32_t exponent = tilewright_whole_exponent(x);
    uint32_t share = 0x40000000u; /* 2^31 for 1 */
    if (exponent > 129u) {
        return tilewright_whole_times(x, sign != 0u ? 0u : 0x3F800000u);
    }
    if (exponent > 97u) {
        const uint32_t t = tilewright_whole_upper(mantissa >> (129u - exponent), 3037000500u); /* 2^29 for 1 */
        if (t >> 29 == 0u) {
            const uint32_t error = tilewright_whole_upper(tilewright_whole_error_near(t << 3), t << 3);
            share = sign != 0u ? share - error : share + error;
        } else {
            const uint32_t left = tilewright_whole_error_left(t);
            share = sign != 0u ? left : 0x80000000u - left;
        }
    }
    return exponent == 0u ? sign : sign | tilewright_whole_float((int32_t)tilewright_whole_upper(mantissa, share), (int)exponent - 157);
}
