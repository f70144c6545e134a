/* Dual 16-bit multiplies of Armv7E-M and Armv8-M with the DSP extension, and what the integer kernels share. */
#if !defined(__ARM_FEATURE_SIMD32)
#error "these kernels need a core with the DSP extension: Cortex-M4, M7, M33 or later"
#endif
#include <arm_acle.h>

#if defined(__clang__)
#define TILEWRIGHT_UNROLL _Pragma("unroll")
#define TILEWRIGHT_ONCE static __attribute__((noinline, unused))
#else
#define TILEWRIGHT_UNROLL _Pragma("GCC unroll 16")
/* The first scheduler would hoist every load to the top of a block and spill: 5 to 30 % more instructions. */
#define TILEWRIGHT_ONCE static __attribute__((noinline, unused, optimize("O2", "no-schedule-insns")))
#endif
#define TILEWRIGHT_INTO static inline __attribute__((always_inline))

/* How accumulators become codes: (high word of acc * multiplier + codes[0]) >> codes[1], limited to codes[2], codes[3]. */

/* Forms of a kernel, known at compile time. PAIRED: weights of two channels as 256 * second + first in 16 bits, one
 * sign extension for both; OWN: addend and shift of each channel stand in its table; LIMITED: clamp instead of
 * saturating to int8; UNIFORM: one multiplier, codes[4], for all channels, the table holds starts alone. */
#define TILEWRIGHT_PAIRED 1
#define TILEWRIGHT_OWN 2
#define TILEWRIGHT_LIMITED 4
#define TILEWRIGHT_UNIFORM 8

TILEWRIGHT_INTO uint32_t tilewright_load(const void *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

TILEWRIGHT_INTO uint32_t tilewright_even(uint32_t word)
{
    return (uint32_t)__sxtb16(word);
}

TILEWRIGHT_INTO uint32_t tilewright_odd(uint32_t word)
{
    uint32_t halves;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(halves) : "r"(word));
    return halves;
}

TILEWRIGHT_INTO uint32_t tilewright_even_unsigned(uint32_t word)
{
    return (uint32_t)__uxtb16(word);
}

TILEWRIGHT_INTO uint32_t tilewright_odd_unsigned(uint32_t word)
{
    uint32_t halves;
    __asm__("uxtb16 %0, %1, ror #8" : "=r"(halves) : "r"(word));
    return halves;
}

TILEWRIGHT_INTO int32_t tilewright_scale(int32_t acc, int32_t multiplier, int32_t addend)
{
    int32_t high;
    __asm__("smmla %0, %1, %2, %3" : "=r"(high) : "r"(acc), "r"(multiplier), "r"(addend));
    return high;
}

TILEWRIGHT_INTO int32_t tilewright_limit(const int form, int32_t code, const int32_t *codes)
{
    if (form & TILEWRIGHT_LIMITED) {
        code = code < codes[2] ? codes[2] : code;
        return code > codes[3] ? codes[3] : code;
    }
    return __ssat(code, 8);
}
