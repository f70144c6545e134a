#include <float.h>
#include <math.h>

/* The nearest whole number, halves to the even one, of a value of at most 2^22 either way. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__)
#define TILEWRIGHT_WHOLE(value) (((value) + 12582912.0f) - 12582912.0f)
#else
#define TILEWRIGHT_WHOLE(value) rintf(value)
#endif
/* Elements that may be computed side by side, each in its own place: no flag of the floating-point unit is read, so both
 * sides of a choice may be computed, and a result may lie over its operand. Elsewhere one side is computed, the cheaper
 * where there are two for a value. */
#if defined(__GNUC__) && !defined(__clang__) && (defined(__SSE2__) || defined(__aarch64__))
#define TILEWRIGHT_SIDE_BY_SIDE __attribute__((optimize("no-trapping-math")))
#define TILEWRIGHT_EACH_ALONE _Pragma("GCC ivdep")
#define TILEWRIGHT_ONE_SIDE 0
#else
#define TILEWRIGHT_SIDE_BY_SIDE
#define TILEWRIGHT_EACH_ALONE
#define TILEWRIGHT_ONE_SIDE 1
#endif
