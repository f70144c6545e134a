/* Depthwise windows of any size (Helium), sixteen channels of a result at a time: taps two by two, whose products of bytes
 * are added in 16 bits before they are widened. It brings tilewright_mve_window and tilewright_mve_window_own. */

/* Sums of the even channels in two vectors, 0 4 8 12 and 2 6 10 14, then of the odd ones; `at` is added to every tap. */
#define TILEWRIGHT_MVE_WIDENED_INTO(first, second) \
    "vadd.i16 q2, q2, q3\n\tvmovlb.s16 q3, q2\n\tvadd.i32 " first ", " first ", q3\n\t" \
    "vmovlt.s16 q3, q2\n\tvadd.i32 " second ", " second ", q3\n\t"
#define TILEWRIGHT_MVE_PAIRS(taps, at, weights, pairs, starts) \
    __asm__ volatile( \
        "vldrw.32 q4, [%[s]]\n\tvldrw.32 q5, [%[s], #16]\n\tvldrw.32 q6, [%[s], #32]\n\tvldrw.32 q7, [%[s], #48]\n\t" \
        "dls lr, %[n]\n\t" \
        "1:\n\tldrd r2, r3, [%[t]], #8\n\tadd r2, r2, %[c]\n\tadd r3, r3, %[c]\n\t" \
        "vldrb.8 q0, [r2]\n\tvldrw.32 q1, [%[w]]\n\tvmullb.s8 q2, q0, q1\n\t" \
        "vldrb.8 q0, [r3]\n\tvldrw.32 q1, [%[w], #16]\n\tvmullb.s8 q3, q0, q1\n\t" \
        TILEWRIGHT_MVE_WIDENED_INTO("q4", "q5") \
        "vmullt.s8 q2, q0, q1\n\tvldrb.8 q0, [r2]\n\tvldrw.32 q1, [%[w]], #32\n\tvmullt.s8 q3, q0, q1\n\t" \
        TILEWRIGHT_MVE_WIDENED_INTO("q6", "q7") \
        "le lr, 1b\n\t" \
        : [t] "+r"(taps), [w] "+r"(weights), "=t"(s0), "=t"(s1), "=t"(s2), "=t"(s3) \
        : [c] "r"(at), [n] "r"(pairs), [s] "r"(starts) \
        : "cc", "memory", "r2", "r3", "lr", "q0", "q1", "q2", "q3")
#define TILEWRIGHT_MVE_TO_CODES(sum, i, own) \
    vshlq_s32(vaddq_s32(vmulhq_s32(sum, vldrwq_s32(table + 16 + 4 * (i))), \
                  (own) ? vldrwq_s32(table + 32 + 4 * (i)) : vdupq_n_s32(codes[0])), \
        (own) ? vldrwq_s32(table + 48 + 4 * (i)) : vdupq_n_s32(-codes[1]))

/* One pixel of results. The stream of sixteen channels: starts, multipliers, and where channels differ in them addends and
 * shifts to the left, each in the order of the sums; then sixteen weights of every tap. Behind the numbers of all kernels
 * `codes` holds the pairs of taps and the channels; the last sixteen of these may be some of those before again. */
#define TILEWRIGHT_MVE_WINDOW(name, own) \
    TILEWRIGHT_MVE void name(const int8_t *const *taps, int32_t at, const int32_t *stream, int8_t *y, const int32_t *codes) \
    { \
        for (int c = 0; c < codes[6]; c += 16) { \
            const int first = c < codes[6] - 16 ? c : codes[6] - 16; \
            const int32_t *const table = stream; \
            const int8_t *const *walked = taps; \
            const int32_t by = at + first; \
            register int32x4_t s0 __asm__("q4"); \
            register int32x4_t s1 __asm__("q5"); \
            register int32x4_t s2 __asm__("q6"); \
            register int32x4_t s3 __asm__("q7"); \
            stream += (own) ? 64 : 32; \
            TILEWRIGHT_MVE_PAIRS(walked, by, stream, codes[5], table); \
            const int32x4_t w0 = TILEWRIGHT_MVE_TO_CODES(s0, 0, own); \
            const int32x4_t w1 = TILEWRIGHT_MVE_TO_CODES(s1, 1, own); \
            const int32x4_t w2 = TILEWRIGHT_MVE_TO_CODES(s2, 2, own); \
            const int32x4_t w3 = TILEWRIGHT_MVE_TO_CODES(s3, 3, own); \
            const int16x8_t even = vqmovntq_s32(vqmovnbq_s32(vreinterpretq_s16_s32(w0), w0), w1); \
            const int16x8_t odd = vqmovntq_s32(vqmovnbq_s32(vreinterpretq_s16_s32(w2), w2), w3); \
            const int8x16_t result = vqmovntq_s16(vqmovnbq_s16(vreinterpretq_s8_s16(even), even), odd); \
            const int8x16_t limited = vmaxq_s8(result, vdupq_n_s8((int8_t)codes[2])); \
            vstrbq_s8(y + first, vminq_s8(limited, vdupq_n_s8((int8_t)codes[3]))); \
        } \
    }
TILEWRIGHT_MVE_WINDOW(tilewright_mve_window, 0)
TILEWRIGHT_MVE_WINDOW(tilewright_mve_window_own, 1)
