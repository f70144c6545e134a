/* What gates are made with on cores with the DSP extension: a high word with its addend, and a curve between two points
 * that lie in one word, in one dual multiply. */
#define TILEWRIGHT_HIGH(a, b, addend) tilewright_scale((a), (b), (addend))
#define TILEWRIGHT_CURVE(zero, v) tilewright_curve((zero), tilewright_within_16((v)))
#define TILEWRIGHT_CURVE_OF_TWICE(zero, v) tilewright_curve((zero), tilewright_twice_within_16((v)))

TILEWRIGHT_INTO int32_t tilewright_within_16(int32_t v)
{
    int32_t limited;
    __asm__("ssat %0, #21, %1" : "=r"(limited) : "r"(v));
    return limited;
}

TILEWRIGHT_INTO int32_t tilewright_twice_within_16(int32_t v)
{
    int32_t limited;
    __asm__("ssat %0, #21, %1, lsl #1" : "=r"(limited) : "r"(v));
    return limited;
}

TILEWRIGHT_INTO int32_t tilewright_curve(const int16_t *zero, int32_t v)
{
    const uint32_t shares = 2048u + (uint32_t)(v & 2047) * 65535u;
    return tilewright_smlad(tilewright_load(zero + (v >> 11)), shares, 1024) >> 11;
}
