/* Sums of runs of codes times weights of eight bits, in dual multiplies. It brings tilewright_one_run,
 * tilewright_one_run_unsigned and, for four pixels at once, tilewright_one_four and tilewright_one_four_unsigned. */

/* What four pixels walk over: codes of a run, from pixel to pixel, and from run to run of codes and of weights. */
typedef struct {
    int codes, step, x_row, w_row;
} tilewright_one_walk;

#define TILEWRIGHT_ONE_PIXEL(x, sum, widen) \
    "ldr %[a], " x "\n\t" widen " %[b], %[a]\n\t" widen " %[a], %[a], ror #8\n\t" \
    "smlad %[" sum "], %[b], %[e], %[" sum "]\n\tsmlad %[" sum "], %[a], %[q], %[" sum "]\n\t"
#define TILEWRIGHT_ONE_FOUR(widen) \
    __asm__ volatile( \
        "1:\n\tldr %[q], [%[w]], #4\n\tsxtb16 %[e], %[q]\n\tsxtb16 %[q], %[q], ror #8\n\t" \
        TILEWRIGHT_ONE_PIXEL("[%[x], %[three]]", "s3", widen) TILEWRIGHT_ONE_PIXEL("[%[x], %[step], lsl #1]", "s2", widen) \
        TILEWRIGHT_ONE_PIXEL("[%[x], %[step]]", "s1", widen) TILEWRIGHT_ONE_PIXEL("[%[x]], #4", "s0", widen) \
        "cmp %[w], %[end]\n\tbne 1b\n\t" \
        : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [x] "+r"(x), [w] "+r"(w), [q] "=&r"(q), \
          [e] "=&r"(e), [a] "=&r"(a), [b] "=&r"(b) \
        : [step] "r"(step), [three] "r"(three), [end] "r"(end) \
        : "cc", "memory")

#define TILEWRIGHT_ONE(name, type, kind, widen) \
    TILEWRIGHT_ONCE int32_t tilewright_one_run##name(const int8_t *x, const int8_t *w, int codes, int32_t sum) \
    { \
        const int8_t *const last = &w[codes], *const end = &last[-(codes % 4)]; \
        TILEWRIGHT_UNROLL_FOUR \
        for (; w != end; w += 4, x += 4) { \
            const uint32_t weights = tilewright_load(w), word = tilewright_load(x); \
            sum = tilewright_smlad(tilewright_even##kind(word), tilewright_even(weights), sum); \
            sum = tilewright_smlad(tilewright_odd##kind(word), tilewright_odd(weights), sum); \
        } \
        for (; w != last; w++, x++) { \
            sum += (int32_t)*w * *(const type *)x; \
        } \
        return sum; \
    } \
    TILEWRIGHT_ONCE void tilewright_one_four##name( \
        const int8_t *x, const int8_t *w, int rows, const tilewright_one_walk *walk, int32_t *sums) \
    { \
        int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3]; \
        const int step = walk->step, three = 3 * step; \
        for (; rows > 0; rows--) { \
            const int8_t *end = &w[walk->codes - walk->codes % 4]; \
            uint32_t q, e, a, b; \
            if (w != end) { \
                TILEWRIGHT_ONE_FOUR(widen); \
            } \
            for (int i = walk->codes % 4; i > 0; i--) { \
                const int32_t weight = *w++; \
                s0 += weight * *(const type *)x; \
                s1 += weight * *(const type *)&x[step]; \
                s2 += weight * *(const type *)&x[2 * step]; \
                s3 += weight * *(const type *)&x[three]; \
                x++; \
            } \
            x += walk->x_row; \
            w += walk->w_row; \
        } \
        sums[0] = s0; \
        sums[1] = s1; \
        sums[2] = s2; \
        sums[3] = s3; \
    }
TILEWRIGHT_ONE(, int8_t, , "sxtb16")
TILEWRIGHT_ONE(_unsigned, uint8_t, _unsigned, "uxtb16")
