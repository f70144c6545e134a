/* Depthwise 3x3 in vectors of sixteen channels, first the even ones, then the odd ones: products of 16 bits, added by
 * twos before they are widened. The nine taps of a pixel are nine pointers that walk over the channels. It brings
 * tilewright_mve_taps and tilewright_mve_taps_own. */
#define TILEWRIGHT_COLUMN_TAP(tap, step, weight, half, product) \
    "vldrb.8 q0, [%[" tap "]]" step "\n\tvldrw.32 q1, [%[w], #" weight "]\n\tvmull" half ".s8 " product ", q0, q1\n\t"
#define TILEWRIGHT_WIDENED \
    "vmovlb.s16 q5, q2\n\tvadd.i32 q3, q3, q5\n\tvmovlt.s16 q5, q2\n\tvadd.i32 q4, q4, q5\n\t"
#define TILEWRIGHT_TAPS(first, second, step, at, after, half) \
    TILEWRIGHT_COLUMN_TAP(first, step, at, half, "q2") TILEWRIGHT_COLUMN_TAP(second, step, after, half, "q5") \
    "vadd.i16 q2, q2, q5\n\t" TILEWRIGHT_WIDENED
/* Eight channels from sums to codes in the low bytes of q3. */
#define TILEWRIGHT_HALF(step, half, per_channel) \
    "vldrw.32 q3, [%[t]], #16\n\tvldrw.32 q4, [%[t]], #16\n\t" \
    TILEWRIGHT_TAPS("x0", "x1", step, "0", "16", half) TILEWRIGHT_TAPS("x2", "x3", step, "32", "48", half) \
    TILEWRIGHT_TAPS("x4", "x5", step, "64", "80", half) TILEWRIGHT_TAPS("x6", "x7", step, "96", "112", half) \
    TILEWRIGHT_COLUMN_TAP("x8", step, "128", half, "q2") TILEWRIGHT_WIDENED \
    "vldrw.32 q0, [%[t]], #16\n\tvmulh.s32 q3, q3, q0\n\tvldrw.32 q0, [%[t]], #16\n\tvmulh.s32 q4, q4, q0\n\t" \
    per_channel "vadd.i32 q3, q3, q6\n\tvshl.s32 q3, q3, q7\n\t" \
    per_channel "vadd.i32 q4, q4, q6\n\tvshl.s32 q4, q4, q7\n\tvqmovnb.s32 q3, q3\n\tvqmovnt.s32 q3, q4\n\t"
#define TILEWRIGHT_ADDENDS "vldrw.32 q6, [%[t]], #16\n\tvldrw.32 q7, [%[t]], #16\n\t"
#define TILEWRIGHT_WALKING(name, number) register const int8_t *name __asm__(number)

/* Table of sixteen channels, for the even, then for the odd ones: starts of every other one (0, 4, 8, 12 and 2, 6, 10,
 * 14), multipliers likewise, and where channels differ in them addends and shifts to the left of each four. */
#define TILEWRIGHT_MVE_TAPS(name, per_channel) \
    TILEWRIGHT_MVE void name(const int8_t *const *taps, const int8_t *weights, const int32_t *table, int8_t *y, \
        int groups, const int32_t *codes) \
    { \
        const int32_t addend = codes[0]; \
        const int32_t left = -codes[1]; \
        int32x4_t saved; \
        TILEWRIGHT_WALKING(x0, "r0") = taps[0]; \
        TILEWRIGHT_WALKING(x1, "r1") = taps[1]; \
        TILEWRIGHT_WALKING(x2, "r2") = taps[2]; \
        TILEWRIGHT_WALKING(x3, "r3") = taps[3]; \
        TILEWRIGHT_WALKING(x4, "r4") = taps[4]; \
        TILEWRIGHT_WALKING(x5, "r5") = taps[5]; \
        TILEWRIGHT_WALKING(x6, "r6") = taps[6]; \
        TILEWRIGHT_WALKING(x7, "r8") = taps[7]; \
        TILEWRIGHT_WALKING(x8, "r9") = taps[8]; \
        register const int8_t *w __asm__("r10") = weights; \
        register const int32_t *t __asm__("r11") = table; \
        register int8_t *to __asm__("r12") = y; \
        register int n __asm__("r14") = groups; \
        __asm__ volatile( \
            "vldr s24, %[addend]\n\tvldr s28, %[left]\n\t" \
            "vmov.f32 s25, s24\n\tvmov.f32 s26, s24\n\tvmov.f32 s27, s24\n\t" \
            "vmov.f32 s29, s28\n\tvmov.f32 s30, s28\n\tvmov.f32 s31, s28\n\t" \
            "1:\n\t" TILEWRIGHT_HALF("", "b", per_channel) "vstrw.32 q3, %[saved]\n\t" \
            TILEWRIGHT_HALF(", #16", "t", per_channel) "vldrw.32 q0, %[saved]\n\tvqmovnb.s16 q0, q0\n\t" \
            "vqmovnt.s16 q0, q3\n\tvstrb.8 q0, [%[y]], #16\n\tadd %[w], %[w], #144\n\t" \
            "subs %[n], %[n], #1\n\tbne 1b\n\t" \
            : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [x4] "+r"(x4), [x5] "+r"(x5), \
              [x6] "+r"(x6), [x7] "+r"(x7), [x8] "+r"(x8), [w] "+r"(w), [t] "+r"(t), [y] "+r"(to), [n] "+r"(n), \
              [saved] "=m"(saved) \
            : [addend] "m"(addend), [left] "m"(left) \
            : "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"); \
    }
TILEWRIGHT_MVE_TAPS(tilewright_mve_taps, "")
TILEWRIGHT_MVE_TAPS(tilewright_mve_taps_own, TILEWRIGHT_ADDENDS)
