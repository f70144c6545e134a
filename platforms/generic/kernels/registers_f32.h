/* Keeps float sums in registers as they are written, whatever optimisation level the build asks for: gcc's first
 * scheduler moves all loads of a block to its top and spills, and so does the replacement of expressions. */
#if defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_FLOAT static __attribute__((noinline, unused, optimize("O2", "no-schedule-insns", "no-tree-ter", "ira-region=one")))
#elif defined(__clang__)
#define TILEWRIGHT_FLOAT static __attribute__((noinline, unused))
#else
#define TILEWRIGHT_FLOAT static
#endif
/* The fused multiply-add of the unit, and a value whose origin the compiler forgets, so that loads keep small offsets. */
#if defined(__GNUC__)
#define TILEWRIGHT_MULTIPLY_ADD(a, b, sum) __builtin_fmaf((a), (b), (sum))
#define TILEWRIGHT_FORGET(value) __asm__("" : "+r"(value))
#else
#define TILEWRIGHT_MULTIPLY_ADD(a, b, sum) ((a) * (b) + (sum))
#define TILEWRIGHT_FORGET(value) ((void)0)
#endif
/* Zero for negative values: in the integer unit where a comparison of floats goes through the flags. */
#if defined(__ARM_FP)
#define TILEWRIGHT_RECTIFIED(value) tilewright_float_rectified(value)
static inline __attribute__((always_inline, unused)) float tilewright_float_rectified(float value)
{
    union {
        float value;
        uint32_t bits;
    } number = {value};
    number.bits = (int32_t)number.bits < 0 ? 0u : number.bits;
    return number.value;
}
#else
#define TILEWRIGHT_RECTIFIED(value) ((value) < 0.0f ? 0.0f : (value))
#endif
