/* Matrix core: some pixels, widened to 16 bits, times two output channels at a time.
 *
 * Widened pixels lie [pair of inputs][pixel], so that two pixels are one ldrd; in each group of four inputs the pairs
 * are (0, 2) and (1, 3), as sxtb16 gives them, and the weights follow. Table of a pair of channels: two starts, two
 * multipliers, and with OWN two addends and two shifts. 12 instructions for 16 multiply-accumulates with 4 pixels. It brings, for 1 to 4 pixels:
 *   tilewright_matrix1_paired tilewright_matrix1_paired_sparse tilewright_matrix1_paired_limited
 *   tilewright_matrix1_wide_limited tilewright_matrix1_wide_own_limited tilewright_widen1 tilewright_widen1_unsigned
 *   tilewright_matrix1_paired_positive tilewright_matrix1_paired_unsigned
 *   tilewright_matrix1_paired_twice tilewright_matrix1_paired_sparse_twice tilewright_matrix1_wide_twice_limited
 *   tilewright_matrix1_sixteen_limited tilewright_matrix1_sixteen_own_limited
 *   tilewright_matrix2_paired tilewright_matrix2_paired_sparse tilewright_matrix2_paired_limited
 *   tilewright_matrix2_wide_limited tilewright_matrix2_wide_own_limited tilewright_widen2 tilewright_widen2_unsigned
 *   tilewright_matrix2_paired_positive tilewright_matrix2_paired_unsigned
 *   tilewright_matrix2_paired_twice tilewright_matrix2_paired_sparse_twice tilewright_matrix2_wide_twice_limited
 *   tilewright_matrix2_sixteen_limited tilewright_matrix2_sixteen_own_limited
 *   tilewright_matrix3_paired tilewright_matrix3_paired_sparse tilewright_matrix3_paired_limited
 *   tilewright_matrix3_wide_limited tilewright_matrix3_wide_own_limited tilewright_widen3 tilewright_widen3_unsigned
 *   tilewright_matrix3_paired_positive tilewright_matrix3_paired_unsigned
 *   tilewright_matrix3_paired_twice tilewright_matrix3_paired_sparse_twice tilewright_matrix3_wide_twice_limited
 *   tilewright_matrix3_sixteen_limited tilewright_matrix3_sixteen_own_limited
 *   tilewright_matrix4_paired tilewright_matrix4_paired_sparse tilewright_matrix4_paired_limited
 *   tilewright_matrix4_wide_limited tilewright_matrix4_wide_own_limited tilewright_widen4 tilewright_widen4_unsigned
 *   tilewright_matrix4_paired_positive tilewright_matrix4_paired_unsigned
 *   tilewright_matrix4_paired_twice tilewright_matrix4_paired_sparse_twice tilewright_matrix4_wide_twice_limited
 *   tilewright_matrix4_sixteen_limited tilewright_matrix4_sixteen_own_limited
 */
TILEWRIGHT_INTO uint32_t *tilewright_store(const int pixels, uint32_t *to, const uint32_t *words)
{
    if (pixels > 1) {
        __asm__ volatile("strd %1, %2, [%0], #8" : "+r"(to) : "r"(words[0]), "r"(words[1]) : "memory");
    }
    if (pixels == 4) {
        __asm__ volatile("strd %1, %2, [%0], #8" : "+r"(to) : "r"(words[2]), "r"(words[3]) : "memory");
    }
    if (pixels == 1 || pixels == 3) {
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
#define TILEWRIGHT_WEIGHTS_PAIRED "ldr %[q], [%[w]], #4\n\tsxtb16.w %[e], %[q]\n\t"
#define TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_WEIGHTS_PAIRED "sxtb16 %[q], %[q], ror #8\n\t"
#define TILEWRIGHT_WEIGHTS_SIXTEEN "ldrd %[e], %[q], [%[w]], #8\n\t"
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
#define TILEWRIGHT_PAIRED1 TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS1
#define TILEWRIGHT_PAIRED2 TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS2
#define TILEWRIGHT_PAIRED3 TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS3
#define TILEWRIGHT_PAIRED4 TILEWRIGHT_WEIGHTS_PAIRED TILEWRIGHT_PIXELS4
#define TILEWRIGHT_WIDE1 TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS1
#define TILEWRIGHT_WIDE2 TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS2
#define TILEWRIGHT_WIDE3 TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS3
#define TILEWRIGHT_WIDE4 TILEWRIGHT_WEIGHTS_WIDE TILEWRIGHT_PIXELS4
#define TILEWRIGHT_SIXTEEN1 TILEWRIGHT_WEIGHTS_SIXTEEN TILEWRIGHT_PIXELS1
#define TILEWRIGHT_SIXTEEN2 TILEWRIGHT_WEIGHTS_SIXTEEN TILEWRIGHT_PIXELS2
#define TILEWRIGHT_SIXTEEN3 TILEWRIGHT_WEIGHTS_SIXTEEN TILEWRIGHT_PIXELS3
#define TILEWRIGHT_SIXTEEN4 TILEWRIGHT_WEIGHTS_SIXTEEN TILEWRIGHT_PIXELS4
#define TILEWRIGHT_FOUR_TIMES ".rept 4\n\t"
#define TILEWRIGHT_END ".endr\n\t"
#define TILEWRIGHT_SUM(step) \
    __asm__ volatile( \
        "ldr %[e], %[skip]\n\tadd pc, %[e]\n\tnop\n\t" \
        "1:\n\t" TILEWRIGHT_FOUR_TIMES TILEWRIGHT_##step TILEWRIGHT_##step TILEWRIGHT_##step TILEWRIGHT_##step TILEWRIGHT_END \
        "ldr %[e], %[end]\n\tcmp %[x], %[e]\n\tbne 1b\n\t" \
        : [s0] "+r"(s[0]), [t0] "+r"(t[0]), [s1] "+r"(s[1]), [t1] "+r"(t[1]), [s2] "+r"(s[2]), [t2] "+r"(t[2]), \
          [s3] "+r"(s[3]), [t3] "+r"(t[3]), [x] "+r"(x), [w] "+r"(w), [q] "=&r"(q), [e] "=&r"(e), [a] "=&r"(a), \
          [b] "=&r"(b) \
        : [skip] "m"(skip), [end] "m"(end) \
        : "cc", "memory")

/* Adds `pairs` steps to the sums of two channels, s and t. */
TILEWRIGHT_INTO const uint32_t *tilewright_sum(
    const int pixels, const int form, const uint32_t *x, const uint32_t *w, int pairs, int32_t s[4], int32_t t[4])
{
    const uint32_t *const end = x + pairs * pixels;
#if defined(TILEWRIGHT_IN_C)
    for (; x != end; x += pixels) {
        const uint32_t q = *w++;
        const uint32_t e = form & TILEWRIGHT_SIXTEEN ? q : tilewright_even(q);
        const uint32_t second = form & TILEWRIGHT_SIXTEEN ? *w++ : form & TILEWRIGHT_PAIRED ? q : tilewright_odd(q);
        for (int j = 0; j < pixels; j++) {
            s[j] = tilewright_smlad(x[j], e, s[j]);
            t[j] = tilewright_smlad(x[j], second, t[j]);
        }
    }
#else
    const int weights_bytes = (form & TILEWRIGHT_SIXTEEN ? 4 : form & TILEWRIGHT_PAIRED ? 8 : 12);
    const int step_bytes = weights_bytes + (pixels * 2 + (pixels + 1) / 2) * 4;
    const int skip = (-pairs & 15) * step_bytes;
    uint32_t q, e, a, b;
#define TILEWRIGHT_SUM_OF(form) \
        if (pixels == 1) { \
            TILEWRIGHT_SUM(form##1); \
        } else if (pixels == 2) { \
            TILEWRIGHT_SUM(form##2); \
        } else if (pixels == 3) { \
            TILEWRIGHT_SUM(form##3); \
        } else { \
            TILEWRIGHT_SUM(form##4); \
        }
    if ((form & TILEWRIGHT_SIXTEEN) != 0) {
        TILEWRIGHT_SUM_OF(SIXTEEN)
    } else if ((form & TILEWRIGHT_PAIRED) != 0) {
        TILEWRIGHT_SUM_OF(PAIRED)
    } else {
        TILEWRIGHT_SUM_OF(WIDE)
    }
#endif
    return w;
}

TILEWRIGHT_INTO void tilewright_matrix(
    const int pixels, const int form, const uint32_t *xs, const uint32_t *w,
    const int32_t *table, int8_t *y, int pairs, int channels, int stride,
    const int32_t *codes)
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
            const int step = form & TILEWRIGHT_TWICE ? 2 * o : o;
            const int32_t multiplier = form & TILEWRIGHT_UNIFORM ? codes[4] : table[2 + step];
            const int32_t addend = form & TILEWRIGHT_OWN ? table[4 + o] : codes[0];
            const int32_t shift = form & TILEWRIGHT_UNIFORM ? codes[1]
                : form & TILEWRIGHT_TWICE ? table[3 + step]
                : form & TILEWRIGHT_OWN ? table[6 + o]
                : codes[1];
            int8_t *to = y + o * (form & TILEWRIGHT_TO_HALVES ? 2 : 1);
            TILEWRIGHT_UNROLL
            for (int j = 0; j < pixels; j++) {
                int32_t sum = acc[o][j];
                if ((form & TILEWRIGHT_PAIRED) && o == 1) {
                    const uint32_t difference = (uint32_t)sum - (uint32_t)acc[0][j];
                    sum = tilewright_floor((int32_t)difference, 8);
                }
                const int32_t code = (form & TILEWRIGHT_TWICE) != 0
                    ? tilewright_twice(sum * 2, multiplier, shift, addend)
                    : tilewright_shifted(tilewright_scale(sum, multiplier, addend), shift);
                const int16_t limited = (int16_t)tilewright_limit(form, code, codes);
                if ((form & TILEWRIGHT_TO_HALVES) != 0) {
                    (void)memcpy((void *)to, &limited, sizeof limited);
                } else {
                    *to = (int8_t)limited;
                }
                to = &to[stride];
            }
        }
        table += (form & TILEWRIGHT_OWN ? 8 : form & TILEWRIGHT_UNIFORM ? 2 : form & TILEWRIGHT_TWICE ? 6 : 4)
            + (form & TILEWRIGHT_SPARSE ? 1 : 0);
        y += form & TILEWRIGHT_SPARSE ? table[-1] : form & TILEWRIGHT_TO_HALVES ? 4 : 2;
    } while (y != end);
}

#define TILEWRIGHT_MATRIX(pixels, name, form) \
    TILEWRIGHT_ONCE void tilewright_matrix##pixels##name(const uint32_t *xs, const uint32_t *w, \
        const int32_t *table, int8_t *y, int pairs, int channels, int stride, \
        const int32_t *codes) \
    { \
        tilewright_matrix(pixels, form, xs, w, table, y, pairs, channels, stride, codes); \
    }
#if defined(TILEWRIGHT_IN_C)
#define TILEWRIGHT_PLAIN_MATRICES(pixels) \
    TILEWRIGHT_MATRIX(pixels, _paired, TILEWRIGHT_PAIRED) \
    TILEWRIGHT_MATRIX(pixels, _paired_positive, TILEWRIGHT_PAIRED | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _paired_unsigned, TILEWRIGHT_PAIRED | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _paired_sparse, TILEWRIGHT_PAIRED | TILEWRIGHT_SPARSE) \
    TILEWRIGHT_MATRIX(pixels, _paired_twice, TILEWRIGHT_PAIRED | TILEWRIGHT_TWICE) \
    TILEWRIGHT_MATRIX(pixels, _paired_sparse_twice, TILEWRIGHT_PAIRED | TILEWRIGHT_SPARSE | TILEWRIGHT_TWICE)
#else
/* The plain form in one piece: what its C leaves between two sums costs a quarter more on short sums. The sums of one
 * pixel become two codes; `s0` then holds the stride between pixels. The sparse form reads from its table how far the
 * next pair of channels is. */
typedef struct {
    const uint32_t *xs;
    const uint32_t *end;
    int32_t skip;
    int32_t stride;
    const int32_t *table;
    int8_t *y;
    const int8_t *last;
    int32_t addend;
    int32_t shift;
} tilewright_frame;

#define TILEWRIGHT_KEEPS_SIGNED "ssat"
#define TILEWRIGHT_KEEPS_UNSIGNED "usat"
#define TILEWRIGHT_KEEPS_POSITIVE "usat"
#define TILEWRIGHT_BITS_SIGNED ", #8, "
#define TILEWRIGHT_BITS_UNSIGNED ", #8, "
#define TILEWRIGHT_BITS_POSITIVE ", #7, "
#define TILEWRIGHT_TO_CODES(kept, first, second) \
    "sub %[" second "], %[" second "], %[" first "]\n\tsmmla %[" first "], %[" first "], %[q], %[a]\n\t" \
    "asr %[" second "], %[" second "], #8\n\tsmmla %[" second "], %[" second "], %[x], %[a]\n\t" \
    "asr %[" first "], %[" first "], %[b]\n\t" TILEWRIGHT_KEEPS_##kept " %[" first "]" TILEWRIGHT_BITS_##kept "%[" first "]\n\t" \
    "asr %[" second "], %[" second "], %[b]\n\t" TILEWRIGHT_KEEPS_##kept " %[" second "]" TILEWRIGHT_BITS_##kept "%[" second "]\n\t" \
    "strb %[" first "], [%[e]]\n\tstrb %[" second "], [%[e], #1]\n\t"
#define TILEWRIGHT_NEXT_TO_CODES(kept, first, second) "add %[e], %[e], %[s0]\n\t" TILEWRIGHT_TO_CODES(kept, first, second)
#define TILEWRIGHT_COPY(number) "mov %[s" #number "], %[s0]\n\tmov %[t" #number "], %[t0]\n\t"
#define TILEWRIGHT_STARTS1 ""
#define TILEWRIGHT_STARTS2 TILEWRIGHT_COPY(1)
#define TILEWRIGHT_STARTS3 TILEWRIGHT_STARTS2 TILEWRIGHT_COPY(2)
#define TILEWRIGHT_STARTS4 TILEWRIGHT_STARTS3 TILEWRIGHT_COPY(3)
#define TILEWRIGHT_CODES1(kept) TILEWRIGHT_TO_CODES(kept, "s0", "t0")
#define TILEWRIGHT_CODES2(kept) TILEWRIGHT_CODES1(kept) "ldr %[s0], %[stride]\n\t" TILEWRIGHT_NEXT_TO_CODES(kept, "s1", "t1")
#define TILEWRIGHT_CODES3(kept) TILEWRIGHT_CODES2(kept) TILEWRIGHT_NEXT_TO_CODES(kept, "s2", "t2")
#define TILEWRIGHT_CODES4(kept) TILEWRIGHT_CODES3(kept) TILEWRIGHT_NEXT_TO_CODES(kept, "s3", "t3")

#define TILEWRIGHT_SCALED(table_bytes) \
    "ldr %[e], %[table]\n\tldrd %[q], %[x], [%[e], #8]\n\tadd %[e], %[e], #" #table_bytes "\n\tstr %[e], %[table]\n\t" \
    "ldrd %[a], %[b], %[addend]\n\tldr %[e], %[y]\n\t"
#define TILEWRIGHT_SCALED1(table_bytes, kept) TILEWRIGHT_SCALED(table_bytes) TILEWRIGHT_CODES1(kept)
#define TILEWRIGHT_SCALED2(table_bytes, kept) TILEWRIGHT_SCALED(table_bytes) TILEWRIGHT_CODES2(kept)
#define TILEWRIGHT_SCALED3(table_bytes, kept) TILEWRIGHT_SCALED(table_bytes) TILEWRIGHT_CODES3(kept)
#define TILEWRIGHT_SCALED4(table_bytes, kept) TILEWRIGHT_SCALED(table_bytes) TILEWRIGHT_CODES4(kept)

/* Two roundings (tilewright_twice) of all pixels of one channel, then of the other, since each has a shift of its own;
 * `a` is the zero point, `b` the stride. The difference of the sums is 256 times the second. */
#define TILEWRIGHT_ONE_TWICE(sum, at) \
    "smmulr %[" #sum "], %[" #sum "], %[q]\n\tadd %[" #sum "], %[" #sum "], %[" #sum "], asr #31\n\t" \
    "asrs %[" #sum "], %[" #sum "], %[x]\n\tadc %[" #sum "], %[" #sum "], %[a]\n\t" \
    "ssat %[" #sum "], #8, %[" #sum "]\n\tstrb %[" #sum "], [%[e], #" #at "]\n\t"
#define TILEWRIGHT_FIRST(first, second) \
    "sub %[" #second "], %[" #second "], %[" #first "]\n\tlsl %[" #first "], %[" #first "], #1\n\t" \
    TILEWRIGHT_ONE_TWICE(first, 0)
#define TILEWRIGHT_SECOND(second) "asr %[" #second "], %[" #second "], #7\n\t" TILEWRIGHT_ONE_TWICE(second, 1)
#define TILEWRIGHT_STRIDE "add %[e], %[e], %[b]\n\t"
#define TILEWRIGHT_FIRSTS1 TILEWRIGHT_FIRST(s0, t0)
#define TILEWRIGHT_FIRSTS2 TILEWRIGHT_FIRSTS1 TILEWRIGHT_STRIDE TILEWRIGHT_FIRST(s1, t1)
#define TILEWRIGHT_FIRSTS3 TILEWRIGHT_FIRSTS2 TILEWRIGHT_STRIDE TILEWRIGHT_FIRST(s2, t2)
#define TILEWRIGHT_FIRSTS4 TILEWRIGHT_FIRSTS3 TILEWRIGHT_STRIDE TILEWRIGHT_FIRST(s3, t3)
#define TILEWRIGHT_SECONDS1 TILEWRIGHT_SECOND(t0)
#define TILEWRIGHT_SECONDS2 TILEWRIGHT_SECONDS1 TILEWRIGHT_STRIDE TILEWRIGHT_SECOND(t1)
#define TILEWRIGHT_SECONDS3 TILEWRIGHT_SECONDS2 TILEWRIGHT_STRIDE TILEWRIGHT_SECOND(t2)
#define TILEWRIGHT_SECONDS4 TILEWRIGHT_SECONDS3 TILEWRIGHT_STRIDE TILEWRIGHT_SECOND(t3)
#define TILEWRIGHT_ROUNDED(table_bytes, pixels, kept) \
    "ldr %[e], %[table]\n\tldrd %[q], %[x], [%[e], #8]\n\tldrd %[a], %[b], %[addend]\n\tldr %[e], %[y]\n\t" \
    TILEWRIGHT_FIRSTS##pixels \
    "ldr %[e], %[table]\n\tldrd %[q], %[x], [%[e], #16]\n\tadd %[e], %[e], #" #table_bytes "\n\tstr %[e], %[table]\n\t" \
    "ldr %[e], %[y]\n\t" TILEWRIGHT_SECONDS##pixels
#define TILEWRIGHT_ROUNDED1(table_bytes, kept) TILEWRIGHT_ROUNDED(table_bytes, 1, kept)
#define TILEWRIGHT_ROUNDED2(table_bytes, kept) TILEWRIGHT_ROUNDED(table_bytes, 2, kept)
#define TILEWRIGHT_ROUNDED3(table_bytes, kept) TILEWRIGHT_ROUNDED(table_bytes, 3, kept)
#define TILEWRIGHT_ROUNDED4(table_bytes, kept) TILEWRIGHT_ROUNDED(table_bytes, 4, kept)

#define TILEWRIGHT_PLAIN_MATRIX(pixels, name, to_codes, kept, table_bytes, second, advance) \
    TILEWRIGHT_ONCE void tilewright_matrix##pixels##name(const uint32_t *xs, const uint32_t *w, \
        const int32_t *table, int8_t *y, int pairs, int channels, int stride, \
        const int32_t *codes) \
    { \
        const int step_bytes = (2 + (pixels) * 2 + ((pixels) + 1) / 2) * 4; \
        tilewright_frame f = {xs, xs + pairs * (pixels), (-pairs & 15) * step_bytes, stride, table, y, y + channels, \
            codes[0], (second)}; \
        uint32_t s0, s1, s2, s3, t0, t1, t2, t3, x, q, e, a, b; \
        __asm__ volatile( \
            "2:\n\tldr %[e], %[table]\n\tldrd %[s0], %[t0], [%[e]]\n\tldr %[x], %[xs]\n\t" \
            TILEWRIGHT_STARTS##pixels "ldr %[e], %[skip]\n\tadd pc, %[e]\n\tnop\n\t" \
            "1:\n\t" TILEWRIGHT_FOUR_TIMES TILEWRIGHT_PAIRED##pixels TILEWRIGHT_PAIRED##pixels TILEWRIGHT_PAIRED##pixels \
            TILEWRIGHT_PAIRED##pixels TILEWRIGHT_END \
            "ldr %[e], %[end]\n\tcmp %[x], %[e]\n\tbne.w 1b\n\t" \
            TILEWRIGHT_##to_codes##pixels(table_bytes, kept) \
            "ldr %[e], %[y]\n\tldr %[q], %[last]\n\t" TILEWRIGHT_##advance "str %[e], %[y]\n\t" \
            "cmp %[e], %[q]\n\tbne.w 2b\n\t" \
            : [s0] "=&r"(s0), [t0] "=&r"(t0), [s1] "=&r"(s1), [t1] "=&r"(t1), [s2] "=&r"(s2), [t2] "=&r"(t2), \
              [s3] "=&r"(s3), [t3] "=&r"(t3), [x] "=&r"(x), [q] "=&r"(q), [e] "=&r"(e), [a] "=&r"(a), [b] "=&r"(b), \
              [w] "+r"(w), [table] "+m"(f.table), [y] "+m"(f.y) \
            : [xs] "m"(f.xs), [end] "m"(f.end), [skip] "m"(f.skip), [stride] "m"(f.stride), [last] "m"(f.last), \
              [addend] "m"(f.addend), "m"(f.shift) \
            : "cc", "memory"); \
    }

#define TILEWRIGHT_NEIGHBOUR "add %[e], %[e], #2\n\t"
#define TILEWRIGHT_BY_TABLE "ldr %[a], %[table]\n\tldr %[a], [%[a], #-4]\n\tadd %[e], %[e], %[a]\n\t"
#define TILEWRIGHT_PLAIN_MATRICES(pixels) \
    TILEWRIGHT_PLAIN_MATRIX(pixels, _paired, SCALED, SIGNED, 16, codes[1], NEIGHBOUR) \
    TILEWRIGHT_PLAIN_MATRIX(pixels, _paired_positive, SCALED, POSITIVE, 16, codes[1], NEIGHBOUR) \
    TILEWRIGHT_PLAIN_MATRIX(pixels, _paired_unsigned, SCALED, UNSIGNED, 16, codes[1], NEIGHBOUR) \
    TILEWRIGHT_PLAIN_MATRIX(pixels, _paired_sparse, SCALED, SIGNED, 20, codes[1], BY_TABLE) \
    TILEWRIGHT_PLAIN_MATRIX(pixels, _paired_twice, ROUNDED, SIGNED, 24, stride, NEIGHBOUR) \
    TILEWRIGHT_PLAIN_MATRIX(pixels, _paired_sparse_twice, ROUNDED, SIGNED, 28, stride, BY_TABLE)
#endif

#define TILEWRIGHT_MATRICES(pixels) \
    TILEWRIGHT_PLAIN_MATRICES(pixels) \
    TILEWRIGHT_MATRIX(pixels, _paired_limited, TILEWRIGHT_PAIRED | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _wide_limited, TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _wide_own_limited, TILEWRIGHT_OWN | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _wide_twice_limited, TILEWRIGHT_TWICE | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _sixteen_limited, TILEWRIGHT_SIXTEEN | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _sixteen_own_limited, TILEWRIGHT_SIXTEEN | TILEWRIGHT_OWN | TILEWRIGHT_LIMITED) \
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
