/* The error function. */
static inline uint32_t tilewright_whole_erf(uint32_t x)
{
    const uint32_t sign = x & 0x80000000u, mantissa = tilewright_whole_mantissa(x);
    const int exponent = (int)(x >> 23 & 255u) - 127;
    uint32_t bits;
    if (x << 1 > 0xFF000000u) {
        bits = x;
    } else if (exponent < 0) {
        const uint32_t share = tilewright_whole_error_near(exponent > -32 ? mantissa >> (-1 - exponent) : 0u);
        const uint32_t value = tilewright_whole_upper(mantissa, share);
        bits = exponent > -127 ? sign | tilewright_whole_float((int32_t)value, exponent - 29) : sign;
    } else if (exponent > 1) {
        bits = sign | 0x3F800000u;
    } else {
        const uint32_t left = tilewright_whole_error_left(mantissa >> (2 - exponent));
        bits = sign | tilewright_whole_float((int32_t)(0x40000000u - left), -30);
    }
    return bits;
}
