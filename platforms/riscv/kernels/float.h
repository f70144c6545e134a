/* What float blocks share: functions kept as they are written, and the fused multiply-add of the unit. */
#if defined(__GNUC__)
#define TILEWRIGHT_FLOAT static __attribute__((unused)) TILEWRIGHT_SCALAR_NESTED
#define TILEWRIGHT_MULTIPLY_ADD(a, b, sum) __builtin_fmaf((a), (b), (sum))
#else
#define TILEWRIGHT_FLOAT static
#define TILEWRIGHT_MULTIPLY_ADD(a, b, sum) ((a) * (b) + (sum))
#endif
