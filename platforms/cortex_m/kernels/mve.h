/* Integer kernels of cores with the vector extension (Helium). A sum of sixteen products is one instruction whose
 * accumulator is an even register: eight accumulators and six odd registers are all there are. It brings
 * TILEWRIGHT_MVE_PIXELS, tilewright_mve_row and tilewright_mve_run. */
#if !defined(__ARM_FEATURE_MVE)
#error "these kernels need a core with the vector extension: Cortex-M55 or later"
#endif
#include <arm_mve.h>

#if defined(__clang__)
#define TILEWRIGHT_MVE static __attribute__((unused, noinline))
#else
#define TILEWRIGHT_MVE static __attribute__((unused, noinline, optimize("O2", "no-schedule-insns")))
#endif
#define TILEWRIGHT_MVE_INTO static inline __attribute__((always_inline))

TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_four(int32_t a, int32_t b, int32_t c, int32_t d)
{
    int32x4_t q;
    __asm__("vmov %q0[2], %q0[0], %1, %3\n\tvmov %q0[3], %q0[1], %2, %4" : "=&t"(q) : "r"(a), "r"(b), "r"(c), "r"(d));
    return q;
}

/* Accumulators to codes: (high word of acc * multiplier + addend) >> shift, limited; codes as for the scalar kernels. */
TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_codes(
    int32x4_t acc, int32x4_t multiplier, int32x4_t addend, int32x4_t left, int32x4_t low, int32x4_t high)
{
    const int32x4_t word = vaddq_s32(vmulhq_s32(acc, multiplier), addend);
    return vminq_s32(vmaxq_s32(vshlq_s32(word, left), low), high);
}

/* The same saturated to int8: the low byte of each lane counts. */
TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_saturated(
    int32x4_t acc, int32x4_t multiplier, int32x4_t addend, int32x4_t left)
{
    const int32x4_t word = vshlq_s32(vaddq_s32(vmulhq_s32(acc, multiplier), addend), left);
    const int16x8_t half = vqmovnbq_s32(vreinterpretq_s16_s32(word), word);
    return vreinterpretq_s32_s8(vqmovnbq_s16(vreinterpretq_s8_s16(half), half));
}

/* Copies `bytes` bytes; up to fifteen zeros follow them. */
TILEWRIGHT_MVE_INTO void tilewright_mve_run(int8_t *to, const int8_t *from, int bytes)
{
    for (int i = 0; i < bytes; i += 16) {
        vstrbq_s8(to + i, vldrbq_z_s8(from + i, vctp8q((uint32_t)(bytes - i))));
    }
}

#define TILEWRIGHT_EVEN(name, number) register int32_t name __asm__(number)
#define TILEWRIGHT_MVE_STEP \
    "vldrw.32 q0, [%[w]], #16\n\tvldrw.32 q2, [%[x0]], #16\n\tvldrw.32 q1, [%[w]], #16\n\t" \
    "vmladava.s8 %[s0], q0, q2\n\tvldrw.32 q3, [%[x1]], #16\n\tvmladava.s8 %[t0], q1, q2\n\t" \
    "vmladava.s8 %[s1], q0, q3\n\tvldrw.32 q2, [%[x2]], #16\n\tvmladava.s8 %[t1], q1, q3\n\t" \
    "vmladava.s8 %[s2], q0, q2\n\tvldrw.32 q3, [%[x3]], #16\n\tvmladava.s8 %[t2], q1, q2\n\t" \
    "vmladava.s8 %[s3], q0, q3\n\tvmladava.s8 %[t3], q1, q3\n\t"

/* Four pixels times pairs of channels. Table of a pair: two starts, two multipliers, the step to the next pair, and, where
 * channels differ in them (`own`), two addends and two shifts to the left. Else codes saturate to int8. A macro, as the number of steps is
 * part of the assembly's text. `x` points to the inputs of each pixel, `at` holds the offsets of their results. */
#define TILEWRIGHT_MVE_PIXELS(name, own, steps) \
    TILEWRIGHT_MVE void name(const int8_t *const *x, const int8_t *w, const int32_t *table, int8_t *y, const uint32_t *at, int pairs, \
        const int32_t *limits) \
    { \
        const uint32x4_t offsets = vldrwq_u32(at); \
        const int32x4_t addend = vdupq_n_s32(limits[0]); \
        const int32x4_t left = vdupq_n_s32(-limits[1]); \
        for (; pairs > 0; pairs--) { \
            TILEWRIGHT_EVEN(s0, "r0") = table[0]; \
            TILEWRIGHT_EVEN(t0, "r2") = table[1]; \
            TILEWRIGHT_EVEN(s1, "r4") = s0; \
            TILEWRIGHT_EVEN(t1, "r6") = t0; \
            TILEWRIGHT_EVEN(s2, "r8") = s0; \
            TILEWRIGHT_EVEN(t2, "r10") = t0; \
            TILEWRIGHT_EVEN(s3, "r12") = s0; \
            TILEWRIGHT_EVEN(t3, "r14") = t0; \
            register const int8_t *x0 __asm__("r1") = x[0]; \
            register const int8_t *x1 __asm__("r3") = x[1]; \
            register const int8_t *x2 __asm__("r5") = x[2]; \
            register const int8_t *x3 __asm__("r7") = x[3]; \
            register const int8_t *weights __asm__("r9") = w; \
            __asm__ volatile( \
                ".rept " steps "\n\t" TILEWRIGHT_MVE_STEP ".endr\n\t" \
                : [s0] "+r"(s0), [t0] "+r"(t0), [s1] "+r"(s1), [t1] "+r"(t1), [s2] "+r"(s2), [t2] "+r"(t2), \
                  [s3] "+r"(s3), [t3] "+r"(t3), [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [w] "+r"(weights) \
                : \
                : "memory", "q0", "q1", "q2", "q3"); \
            w = weights; \
            const int32x4_t first = tilewright_mve_four(s0, s1, s2, s3); \
            const int32x4_t second = tilewright_mve_four(t0, t1, t2, t3); \
            if (own) { \
                const int32x4_t low = vdupq_n_s32(limits[2]); \
                const int32x4_t high = vdupq_n_s32(limits[3]); \
                vstrbq_scatter_offset_s32(y, offsets, tilewright_mve_codes(first, vdupq_n_s32(table[2]), \
                    vdupq_n_s32(table[5]), vdupq_n_s32(table[7]), low, high)); \
                vstrbq_scatter_offset_s32(y + 1, offsets, tilewright_mve_codes(second, vdupq_n_s32(table[3]), \
                    vdupq_n_s32(table[6]), vdupq_n_s32(table[8]), low, high)); \
            } else { \
                vstrbq_scatter_offset_s32(y, offsets, tilewright_mve_saturated(first, vdupq_n_s32(table[2]), addend, left)); \
                vstrbq_scatter_offset_s32( \
                    y + 1, offsets, tilewright_mve_saturated(second, vdupq_n_s32(table[3]), addend, left)); \
            } \
            y += table[4]; \
            table += own ? 9 : 5; \
        } \
    }

#define TILEWRIGHT_MVE_COLUMN(sum) "vldrw.32 q1, [%[w]], #16\n\tvmladava.s8 %[" sum "], q0, q1\n\t"

/* One row times eight columns at a time. Table of eight columns: starts, multipliers, addends, shifts to the left. */
TILEWRIGHT_MVE void tilewright_mve_row(
    const int8_t *x, const int8_t *w, const int32_t *table, int8_t *y, int steps, int columns, const int32_t *limits)
{
    const int32x4_t low = vdupq_n_s32(limits[2]);
    const int32x4_t high = vdupq_n_s32(limits[3]);
    const int8_t *const end = x + steps * 16;
    for (; columns > 0; columns -= 8) {
        int32_t s0 = table[0], s1 = table[1], s2 = table[2], s3 = table[3];
        int32_t s4 = table[4], s5 = table[5], s6 = table[6], s7 = table[7];
        const int8_t *from = x;
        __asm__ volatile(
            "1:\n\tvldrw.32 q0, [%[x]], #16\n\t"
            TILEWRIGHT_MVE_COLUMN("s0") TILEWRIGHT_MVE_COLUMN("s1") TILEWRIGHT_MVE_COLUMN("s2")
            TILEWRIGHT_MVE_COLUMN("s3") TILEWRIGHT_MVE_COLUMN("s4") TILEWRIGHT_MVE_COLUMN("s5")
            TILEWRIGHT_MVE_COLUMN("s6") TILEWRIGHT_MVE_COLUMN("s7")
            "cmp %[x], %[end]\n\tbne.w 1b\n\t"
            : [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3), [s4] "+Te"(s4), [s5] "+Te"(s5),
              [s6] "+Te"(s6), [s7] "+Te"(s7), [x] "+r"(from), [w] "+r"(w)
            : [end] "r"(end)
            : "cc", "memory", "q0", "q1");
        const int32x4_t first = tilewright_mve_codes(tilewright_mve_four(s0, s1, s2, s3), vldrwq_s32(table + 8),
            vldrwq_s32(table + 16), vldrwq_s32(table + 24), low, high);
        const int32x4_t second = tilewright_mve_codes(tilewright_mve_four(s4, s5, s6, s7), vldrwq_s32(table + 12),
            vldrwq_s32(table + 20), vldrwq_s32(table + 28), low, high);
        vstrbq_p_s32(y, first, vctp32q((uint32_t)columns));
        vstrbq_p_s32(y + 4, second, vctp32q(columns > 4 ? (uint32_t)columns - 4u : 0u));
        y += 8;
        table += 32;
    }
}
