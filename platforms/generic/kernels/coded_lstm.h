/* What an LSTM in whole numbers needs beside its sums: gates are in units of 2^-16, the state of 2^-15. */
#if !defined(TILEWRIGHT_HIGH)
#define TILEWRIGHT_HIGH(a, b, addend) ((int32_t)((int64_t)(a) * (b) >> 32) + (addend))
#endif

/* Of `v`, -16 to 16 in units of 2^-16: the sigmoid less a half in these units, from its points 1/32 apart around `zero`.
 * It is the tanh of half of `v` in units of 2^-15. */
#if !defined(TILEWRIGHT_CURVE)
#define TILEWRIGHT_CURVE(zero, v) tilewright_curve((zero), (v) < -1048576 ? -1048576 : (v) > 1048575 ? 1048575 : (v))
#define TILEWRIGHT_CURVE_OF_TWICE(zero, v) \
    tilewright_curve((zero), (v) < -524288 ? -1048576 : (v) > 524287 ? 1048575 : (v) * 2)
static inline int32_t tilewright_curve(const int16_t *zero, int32_t v)
{
    const int16_t *const at = zero + (v >> 11);
    const int32_t rest = v & 2047;
    return (at[0] * (2048 - rest) + at[1] * rest + 1024) >> 11;
}
#endif

/* A float as a whole number of 1 / unit within the limit; what is no number becomes the lowest. */
static inline int32_t tilewright_whole(float value, float unit, float limit)
{
    const float scaled = value * unit;
    const float limited = scaled >= -limit ? scaled <= limit ? scaled : limit : -limit;
    return (int32_t)(limited + (limited < 0.0f ? -0.5f : 0.5f));
}

/* As many bits to the left; from zero it goes no further than 2^28. */
static inline int32_t tilewright_widened(int32_t part, int32_t left)
{
    const int64_t wide = (int64_t)part * ((int64_t)1 << left);
    return wide > 268435456 ? 268435456 : wide < -268435456 ? -268435456 : (int32_t)wide;
}

/* A scale of the input as the mantissa and how far its high word goes to the right. */
static inline int32_t tilewright_mantissa(float factor, int32_t *right)
{
    uint32_t bits;
    (void)memcpy(&bits, (const void *)&factor, sizeof bits);
    const uint32_t biased = bits >> 23 & 255u;
    const int32_t exponent = (int32_t)biased;
    const int32_t distance = 125 - (exponent != 0 ? exponent : 1);
    *right = distance > 30 ? 30 : distance < -30 ? -30 : distance;
    const uint32_t mantissa = ((bits & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0u)) << 7;
    return (int32_t)mantissa;
}
