#include <float.h>
#include <math.h>

/* The nearest whole number, halves to the even one, of a value of at most 2^22 either way. */
static inline float tilewright_nearest(float value)
{
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__)
    /* A sum near 1.5 * 2^23 has no bits for a fraction: the addition itself rounds, as IEEE 754 says. */
    return (value + 12582912.0f) - 12582912.0f;
#else
    return rintf(value);
#endif
}
