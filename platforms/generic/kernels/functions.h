#include <float.h>
#include <math.h>

/* The nearest whole number, halves to the even one, of a value of at most 2^22 either way. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__)
#define TILEWRIGHT_WHOLE(value) (((value) + 12582912.0f) - 12582912.0f)
#else
#define TILEWRIGHT_WHOLE(value) rintf(value)
#endif
