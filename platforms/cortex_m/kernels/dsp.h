/* Dual 16-bit multiplies of Armv7E-M and Armv8-M with the DSP extension, and what the integer kernels share. */
#if !defined(__ARM_FEATURE_SIMD32)
#error "these kernels need a core with the DSP extension: Cortex-M4, M7, M33 or later"
#endif

#if defined(__clang__)
#define TILEWRIGHT_UNROLL _Pragma("unroll")
#define TILEWRIGHT_UNROLL_FOUR _Pragma("unroll 4")
#define TILEWRIGHT_ONCE static __attribute__((noinline, unused))
/* clang keeps a frame pointer, so that no block of assembly may take fourteen registers: it gets the same in C. */
#define TILEWRIGHT_IN_C 1
#else
#define TILEWRIGHT_UNROLL _Pragma("GCC unroll 16")
#define TILEWRIGHT_UNROLL_FOUR _Pragma("GCC unroll 4")
/* The first scheduler would hoist every load to the top of a block and spill: 5 to 30 % more instructions. */
#define TILEWRIGHT_ONCE static __attribute__((noinline, unused, optimize("O2", "no-schedule-insns")))
#endif
#define TILEWRIGHT_INTO static inline __attribute__((always_inline, unused))

/* How accumulators become codes: (high word of acc * multiplier + codes[0]) >> codes[1], limited to codes[2], codes[3]. */

/* Forms of a kernel, known at compile time. PAIRED: weights of two channels as 256 * second + first in 16 bits, one
 * sign extension for both; OWN: addend and shift of each channel stand in its table; LIMITED: clamp instead of
 * saturating to int8; UNIFORM: one multiplier, codes[4], for all channels, the table holds
 * starts alone; SPARSE: the table says how far the next pair of channels is; TWICE: two roundings, see tilewright_twice, whose zero point
 * is codes[0]; the table holds multiplier and shift of each channel; SIXTEEN: weights of 16 bits, a word of each channel; TO_HALVES: codes of
 * 16 bits, of which limits and strides count. */
#define TILEWRIGHT_PAIRED 1
#define TILEWRIGHT_OWN 2
#define TILEWRIGHT_LIMITED 4
#define TILEWRIGHT_UNIFORM 8
#define TILEWRIGHT_SPARSE 16
#define TILEWRIGHT_TWICE 32
#define TILEWRIGHT_SIXTEEN 64
#define TILEWRIGHT_TO_HALVES 128

TILEWRIGHT_INTO uint32_t tilewright_load(const void *at)
{
    uint32_t word;
    (void)memcpy(&word, at, sizeof word);
    return word;
}

TILEWRIGHT_INTO void tilewright_put(void *at, uint32_t word)
{
    (void)memcpy(at, &word, sizeof word);
}

/* Bytes 0 and 2, or 1 and 3, of a word as two halves. */
TILEWRIGHT_INTO uint32_t tilewright_even(uint32_t word)
{
    uint32_t halves;
    __asm__("sxtb16 %0, %1" : "=r"(halves) : "r"(word));
    return halves;
}

TILEWRIGHT_INTO uint32_t tilewright_odd(uint32_t word)
{
    uint32_t halves;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(halves) : "r"(word));
    return halves;
}

TILEWRIGHT_INTO uint32_t tilewright_even_unsigned(uint32_t word)
{
    uint32_t halves;
    __asm__("uxtb16 %0, %1" : "=r"(halves) : "r"(word));
    return halves;
}

TILEWRIGHT_INTO uint32_t tilewright_odd_unsigned(uint32_t word)
{
    uint32_t halves;
    __asm__("uxtb16 %0, %1, ror #8" : "=r"(halves) : "r"(word));
    return halves;
}

TILEWRIGHT_INTO uint32_t tilewright_bottoms(uint32_t low, uint32_t high)
{
    uint32_t word;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(word) : "r"(low), "r"(high));
    return word;
}

TILEWRIGHT_INTO uint32_t tilewright_tops(uint32_t low, uint32_t high)
{
    uint32_t word;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(word) : "r"(high), "r"(low));
    return word;
}

TILEWRIGHT_INTO uint32_t tilewright_ssub16(uint32_t a, uint32_t b)
{
    uint32_t difference;
    __asm__("ssub16 %0, %1, %2" : "=r"(difference) : "r"(a), "r"(b));
    return difference;
}

TILEWRIGHT_INTO int32_t tilewright_scale(int32_t acc, int32_t multiplier, int32_t addend)
{
    int32_t high;
    __asm__("smmla %0, %1, %2, %3" : "=r"(high) : "r"(acc), "r"(multiplier), "r"(addend));
    return high;
}

/* As tilewright_scale, with the product rounded. */
TILEWRIGHT_INTO int32_t tilewright_scale_rounded(int32_t acc, int32_t multiplier, int32_t addend)
{
    int32_t high;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(high) : "r"(acc), "r"(multiplier), "r"(addend));
    return high;
}

/* Codes of TensorFlow Lite Micro: half the doubled sum times the multiplier is rounded, then what the shift leaves, ties
 * away from zero. A shift leaves the last bit that it takes off in the carry, which is half a unit. */
TILEWRIGHT_INTO int32_t tilewright_twice(int32_t doubled, int32_t multiplier, int32_t shift, int32_t zero)
{
    int32_t code;
    __asm__("smmulr %0, %1, %2\n\tadd %0, %0, %0, asr #31\n\tasrs %0, %0, %3\n\tadc %0, %0, %4"
            : "=&r"(code)
            : "r"(doubled), "r"(multiplier), "r"(shift), "r"(zero)
            : "cc");
    return code;
}

TILEWRIGHT_INTO int32_t tilewright_smlad(uint32_t a, uint32_t b, int32_t acc)
{
    int32_t sum;
    __asm__("smlad %0, %1, %2, %3" : "=r"(sum) : "r"(a), "r"(b), "r"(acc));
    return sum;
}

/* value / 2^shift, rounded down: C leaves open what a shift to the right makes of a negative value. */
TILEWRIGHT_INTO int32_t tilewright_shifted(int32_t value, int32_t shift)
{
    int32_t quotient;
    __asm__("asr %0, %1, %2" : "=r"(quotient) : "r"(value), "ri"(shift));
    return quotient;
}

TILEWRIGHT_INTO int32_t tilewright_saturate(int32_t value)
{
    int32_t code;
    __asm__("ssat %0, #8, %1" : "=r"(code) : "r"(value));
    return code;
}

TILEWRIGHT_INTO int32_t tilewright_saturate_unsigned(int32_t value)
{
    int32_t code;
    __asm__("usat %0, #8, %1" : "=r"(code) : "r"(value));
    return code;
}

TILEWRIGHT_INTO int32_t tilewright_saturate_half_unsigned(int32_t value)
{
    int32_t code;
    __asm__("usat %0, #16, %1" : "=r"(code) : "r"(value));
    return code;
}

TILEWRIGHT_INTO int32_t tilewright_saturate_half(int32_t value)
{
    int32_t code;
    __asm__("ssat %0, #16, %1" : "=r"(code) : "r"(value));
    return code;
}

TILEWRIGHT_INTO uint32_t tilewright_input(const int is_signed, const int8_t *at)
{
    return is_signed ? (uint32_t)*at : *(const uint8_t *)at;
}

TILEWRIGHT_INTO int32_t tilewright_limit(const int form, int32_t code, const int32_t *codes)
{
    if ((form & TILEWRIGHT_LIMITED) != 0) {
        code = code < codes[2] ? codes[2] : code;
        return code > codes[3] ? codes[3] : code;
    }
    return form & TILEWRIGHT_TO_HALVES ? tilewright_saturate_half(code) : tilewright_saturate(code);
}
