/* Integer kernels of cores with the vector extension (Helium). A sum of sixteen products is one instruction whose
 * accumulator is an even register. It brings tilewright_mve_row, tilewright_mve_fours and tilewright_mve_run. */
#if !defined(__ARM_FEATURE_MVE)
#error "these kernels need a core with the vector extension: Cortex-M55 or later"
#endif
#include <arm_mve.h>

#if defined(__clang__)
#define TILEWRIGHT_MVE static __attribute__((unused, noinline))
#else
/* One region for all registers: loop by loop, gcc 12 may leave too few around assembly that takes all vectors. */
#define TILEWRIGHT_MVE static __attribute__((unused, noinline, optimize("O2", "no-schedule-insns", "ira-region=one")))
#endif
/* Between vectors that are written and others that hold some of their bytes: gcc 12 takes what a narrowing store writes for
 * one byte where it knows the address, and moves such a read before it. */
#define TILEWRIGHT_MVE_WRITTEN __asm__ volatile("" : : : "memory")
#define TILEWRIGHT_MVE_INTO static inline __attribute__((always_inline))
#define TILEWRIGHT_WALKS(type, name, number) register type name __asm__(number)

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

/* Copies `bytes` bytes; up to fifteen zeros follow them. */
TILEWRIGHT_MVE_INTO void tilewright_mve_run(int8_t *to, const int8_t *from, int bytes)
{
    for (int i = 0; i < bytes; i += 16) {
        vstrbq_s8(to + i, vldrbq_z_s8(from + i, vctp8q((uint32_t)bytes - (uint32_t)i)));
    }
}

/* As many bytes, and up to fifteen more. */
TILEWRIGHT_MVE_INTO void tilewright_mve_fill(int8_t *to, int8_t value, int bytes)
{
    for (int i = 0; i < bytes; i += 16) {
        vstrbq_s8(to + i, vdupq_n_s8(value));
    }
}

#define TILEWRIGHT_MVE_COLUMN(sum) "vldrw.32 q1, [%[w]], #16\n\tvmladava.s8 %[" sum "], q0, q1\n\t"
#define TILEWRIGHT_MVE_PART(sum) "vldrb.8 q1, [%[w]], #16\n\tvmladava.s8 %[" sum "], q0, q1\n\t"

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

/* One row of any length times four columns at a time; the last inputs are read under the loop's own predicate. Table of
 * four columns as above. */
TILEWRIGHT_MVE void tilewright_mve_fours(
    const int8_t *x, const int8_t *w, const int32_t *table, int8_t *y, int inputs, int columns, const int32_t *limits)
{
    const int32x4_t low = vdupq_n_s32(limits[2]);
    const int32x4_t high = vdupq_n_s32(limits[3]);
    for (; columns > 0; columns -= 4) {
        int32_t s0 = table[0], s1 = table[1], s2 = table[2], s3 = table[3];
        const int8_t *from = x;
        __asm__ volatile(
            "dlstp.8 lr, %[inputs]\n\t1:\n\tvldrb.8 q0, [%[x]], #16\n\t"
            TILEWRIGHT_MVE_PART("s0") TILEWRIGHT_MVE_PART("s1") TILEWRIGHT_MVE_PART("s2") TILEWRIGHT_MVE_PART("s3")
            "letp lr, 1b\n\t"
            : [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3), [x] "+r"(from), [w] "+r"(w)
            : [inputs] "r"(inputs)
            : "memory", "lr", "q0", "q1");
        const int32x4_t sums = tilewright_mve_four(s0, s1, s2, s3);
        vstrbq_p_s32(y, tilewright_mve_codes(sums, vldrwq_s32(table + 4), vldrwq_s32(table + 8), vldrwq_s32(table + 12), low, high),
            vctp32q((uint32_t)columns));
        y += 4;
        table += 16;
    }
}
