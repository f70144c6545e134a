/* Matrix core: some pixels, widened to 16 bits, times two output channels at a time.
 *
 * Widened pixels lie [pair of inputs][pixel], so that two pixels are one ldrd; in each group of four inputs the pairs
 * are (0, 2) and (1, 3), as sxtb16 gives them, and the weights follow. Table of a pair of channels: two starts, two
 * multipliers, and with OWN two addends and two shifts. 12 instructions for 16 multiply-accumulates with 4 pixels. */
TILEWRIGHT_INTO uint32_t *tilewright_store(const int pixels, uint32_t *to, const uint32_t *words)
{
    if (pixels > 1) {
        __asm__ volatile("strd %1, %2, [%0], #8" : "+r"(to) : "r"(words[0]), "r"(words[1]) : "memory");
    }
    if (pixels == 4) {
        __asm__ volatile("strd %1, %2, [%0], #8" : "+r"(to) : "r"(words[2]), "r"(words[3]) : "memory");
    } else if (pixels != 2) {
        *to++ = words[pixels - 1];
    }
    return to;
}

TILEWRIGHT_INTO void tilewright_widen(
    const int pixels, const int is_signed, const int8_t *const *sources, uint32_t *to, int words)
{
    const int8_t *s[4];
    TILEWRIGHT_UNROLL
    for (int j = 0; j < pixels; j++) {
        s[j] = sources[j];
    }
    for (; words > 0; words--) {
        uint32_t v[4];
        uint32_t e[4];
        TILEWRIGHT_UNROLL
        for (int j = 0; j < pixels; j++) {
            v[j] = tilewright_load(s[j]);
            s[j] += 4;
            e[j] = is_signed ? tilewright_even(v[j]) : tilewright_even_unsigned(v[j]);
        }
        to = tilewright_store(pixels, to, e);
        TILEWRIGHT_UNROLL
        for (int j = 0; j < pixels; j++) {
            e[j] = is_signed ? tilewright_odd(v[j]) : tilewright_odd_unsigned(v[j]);
        }
        to = tilewright_store(pixels, to, e);
    }
}

/* One step: the weights of two channels for a pair of inputs, then two pixels or one. Every instruction is four bytes
 * long, so that the sum may enter its block of sixteen steps in the middle. It takes all fourteen registers: written as
 * C, gcc spills two of them and moves others at every end of the loop. */
#define TILEWRIGHT_WEIGHTS_PAIRED "ldr %[q], [%[w]], #4\n\tsxtb16 %[e], %[q]\n\t"
#define TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_WEIGHTS_PAIRED "sxtb16 %[q], %[q], ror #8\n\t"
#define TILEWRIGHT_TWO(first, second, third, fourth) \
    "ldrd %[a], %[b], [%[x]], #8\n\t" \
    "smlad %[" first "], %[a], %[e], %[" first "]\n\tsmlad %[" second "], %[a], %[q], %[" second "]\n\t" \
    "smlad %[" third "], %[b], %[e], %[" third "]\n\tsmlad %[" fourth "], %[b], %[q], %[" fourth "]\n\t"
#define TILEWRIGHT_SINGLE(first, second) \
    "ldr %[a], [%[x]], #4\n\t" \
    "smlad %[" first "], %[a], %[e], %[" first "]\n\tsmlad %[" second "], %[a], %[q], %[" second "]\n\t"
#define TILEWRIGHT_PIXELS1 TILEWRIGHT_SINGLE("s0", "t0")
#define TILEWRIGHT_PIXELS2 TILEWRIGHT_TWO("s0", "t0", "s1", "t1")
#define TILEWRIGHT_PIXELS3 TILEWRIGHT_PIXELS2 TILEWRIGHT_SINGLE("s2", "t2")
#define TILEWRIGHT_PIXELS4 TILEWRIGHT_PIXELS2 TILEWRIGHT_TWO("s2", "t2", "s3", "t3")
#define TILEWRIGHT_FOUR_TIMES(text) text text text text
#define TILEWRIGHT_SUM(text) \
    __asm__ volatile( \
        "ldr %[e], %[skip]\n\tadd pc, %[e]\n\tnop\n\t" \
        "1:\n\t" TILEWRIGHT_FOUR_TIMES(TILEWRIGHT_FOUR_TIMES(text)) \
        "ldr %[e], %[end]\n\tcmp %[x], %[e]\n\tbne 1b\n\t" \
        : [s0] "+r"(s[0]), [t0] "+r"(t[0]), [s1] "+r"(s[1]), [t1] "+r"(t[1]), [s2] "+r"(s[2]), [t2] "+r"(t[2]), \
          [s3] "+r"(s[3]), [t3] "+r"(t[3]), [x] "+r"(x), [w] "+r"(w), [q] "=&r"(q), [e] "=&r"(e), [a] "=&r"(a), \
          [b] "=&r"(b) \
        : [skip] "m"(skip), [end] "m"(end) \
        : "cc", "memory")

/* Adds `pairs` steps to the sums of two channels, s and t; `pairs` is even. */
TILEWRIGHT_INTO const uint32_t *tilewright_sum(
    const int pixels, const int form, const uint32_t *x, const uint32_t *w, int pairs, int32_t s[4], int32_t t[4])
{
    const int step_bytes = ((form & TILEWRIGHT_PAIRED ? 2 : 3) + pixels * 2 + (pixels + 1) / 2) * 4;
    const uint32_t *const end = x + pairs * pixels;
    const int skip = (-pairs & 15) * step_bytes;
    uint32_t q, e, a, b;
    if (form & TILEWRIGHT_PAIRED) {
        if (pixels == 1) {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS1);
        } else if (pixels == 2) {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS2);
        } else if (pixels == 3) {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS3);
        } else {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS4);
        }
    } else {
        if (pixels == 1) {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS1);
        } else if (pixels == 2) {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS2);
        } else if (pixels == 3) {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS3);
        } else {
            TILEWRIGHT_SUM(TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS4);
        }
    }
    return w;
}

TILEWRIGHT_INTO void tilewright_matrix(
    const int pixels, const int form, const uint32_t *restrict xs, const uint32_t *restrict w,
    const int32_t *restrict table, int8_t *restrict y, int pairs, int channels, int stride,
    const int32_t *restrict codes)
{
    int8_t *const end = y + channels;
    do {
        int32_t acc[2][4];
        TILEWRIGHT_UNROLL
        for (int j = 0; j < 4; j++) {
            acc[0][j] = j < pixels ? table[0] : 0;
            acc[1][j] = j < pixels ? table[1] : 0;
        }
        w = tilewright_sum(pixels, form, xs, w, pairs, acc[0], acc[1]);
        TILEWRIGHT_UNROLL
        for (int o = 0; o < 2; o++) {
            const int32_t multiplier = form & TILEWRIGHT_UNIFORM ? codes[4] : table[2 + o];
            const int32_t addend = form & TILEWRIGHT_OWN ? table[4 + o] : codes[0];
            const int32_t shift = form & TILEWRIGHT_OWN ? table[6 + o] : codes[1];
            int8_t *to = y + o;
            TILEWRIGHT_UNROLL
            for (int j = 0; j < pixels; j++) {
                int32_t sum = acc[o][j];
                if ((form & TILEWRIGHT_PAIRED) && o == 1) {
                    sum = (int32_t)((uint32_t)sum - (uint32_t)acc[0][j]) >> 8;
                }
                const int32_t code = tilewright_scale(sum, multiplier, addend) >> shift;
                *to = (int8_t)tilewright_limit(form, code, codes);
                to += stride;
            }
        }
        table += form & TILEWRIGHT_OWN ? 8 : form & TILEWRIGHT_UNIFORM ? 2 : 4;
        y += 2;
    } while (y != end);
}

#define TILEWRIGHT_MATRIX(pixels, name, form) \
    TILEWRIGHT_ONCE void tilewright_matrix##pixels##name(const uint32_t *restrict xs, const uint32_t *restrict w, \
        const int32_t *restrict table, int8_t *restrict y, int pairs, int channels, int stride, \
        const int32_t *restrict codes) \
    { \
        tilewright_matrix(pixels, form, xs, w, table, y, pairs, channels, stride, codes); \
    }
#define TILEWRIGHT_MATRICES(pixels) \
    TILEWRIGHT_MATRIX(pixels, _paired, TILEWRIGHT_PAIRED) \
    TILEWRIGHT_MATRIX(pixels, _paired_limited, TILEWRIGHT_PAIRED | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _wide_limited, TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _wide_own_limited, TILEWRIGHT_OWN | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_ONCE void tilewright_widen##pixels(const int8_t *const *sources, uint32_t *to, int words) \
    { \
        tilewright_widen(pixels, 1, sources, to, words); \
    } \
    TILEWRIGHT_ONCE void tilewright_widen##pixels##_unsigned(const int8_t *const *sources, uint32_t *to, int words) \
    { \
        tilewright_widen(pixels, 0, sources, to, words); \
    }

TILEWRIGHT_MATRICES(1)
TILEWRIGHT_MATRICES(2)
TILEWRIGHT_MATRICES(3)
TILEWRIGHT_MATRICES(4)
