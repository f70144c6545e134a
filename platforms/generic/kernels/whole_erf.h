/* The error function. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_whole_erf(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u, mantissa = tilewright_whole_mantissa(x);
    const uint32_t exponent = tilewright_whole_exponent(x);
    uint32_t bits;
    if (x << 1 > 0xFF000000u) {
        bits = x;
    } else if (exponent < 127u) {
        const uint32_t share = tilewright_whole_error_near(exponent > 95u ? mantissa >> (126u - exponent) : 0u);
        const uint32_t value = tilewright_whole_upper(mantissa, share);
        bits = exponent > 0u ? sign | tilewright_whole_float((int32_t)value, (int)exponent - 156) : sign;
    } else if (exponent > 128u) {
        bits = sign | 0x3F800000u;
    } else {
        const uint32_t error = 0x40000000u - tilewright_whole_error_left(mantissa >> (129u - exponent));
        bits = sign | tilewright_whole_float((int32_t)error, -30);
    }
    return bits;
}
