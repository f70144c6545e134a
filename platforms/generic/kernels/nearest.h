#include <float.h>
#include <math.h>

/* The nearest whole number, halves to the even one, of a value of at most 2^22 either way. */
#if defined(__GNUC__)
__attribute__((unused)) /* of the two a network may need one */
#endif
static inline float tilewright_nearest(float value)
{
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__)
    /* A sum near 1.5 * 2^23 has no bits for a fraction: the addition itself rounds, as IEEE 754 says. */
    return (value + 12582912.0f) - 12582912.0f;
#else
    return rintf(value);
#endif
}

/* The nearest whole number, halves away from zero, of a value within 2^31. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_half_away(float value)
{
    const int32_t whole = (int32_t)value;
    const float rest = value - (float)whole; /* exact, where a sum with a half is not */
    return whole + (rest >= 0.5f ? 1 : 0) - (rest <= -0.5f ? 1 : 0);
}
