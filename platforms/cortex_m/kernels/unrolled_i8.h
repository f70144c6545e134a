/* Some pixels times two output channels at a time, unrolled for one layer: its shift and strides stand in the code.
 *
 * Widened pixels lie [pair of inputs][pixel]. The weights are one stream, per pair of channels: two starts, a word or
 * two per pair of inputs, two multipliers. The first step takes the starts as the addends of all pixels. 11
 * instructions for 16 multiply-accumulates with 4 pixels and weights of 16 bits, one more with two channels' weights
 * as 256 * second + first. */
typedef struct {
    int32_t addend;
    int8_t *y;
    const uint32_t *xs;
    const int8_t *last;
    const uint32_t *end;
} tilewright_unrolled_frame;

TILEWRIGHT_INTO uint32_t *tilewright_store_halves(
    const int pixels, const int is_signed, const int odd, const uint32_t v[4], uint32_t *to)
{
    uint32_t e[4];
    TILEWRIGHT_UNROLL
    for (int j = 0; j < pixels; j++) {
        if (odd) {
            e[j] = is_signed ? tilewright_odd(v[j]) : tilewright_odd_unsigned(v[j]);
        } else {
            e[j] = is_signed ? tilewright_even(v[j]) : tilewright_even_unsigned(v[j]);
        }
    }
    return tilewright_store(pixels, to, e);
}

/* Words per run of `count` inputs: groups of four as one sxtb16 and one with a rotation give them, then what is left. */
TILEWRIGHT_INTO uint32_t *tilewright_widen_run(
    const int pixels, const int is_signed, const int count, const int8_t *sources[4], uint32_t *to)
{
    const int left = count % 4;
    TILEWRIGHT_UNROLL_FOUR
    for (int i = 0; i < count / 4; i++) {
        uint32_t v[4];
        TILEWRIGHT_UNROLL
        for (int j = 0; j < pixels; j++) {
            v[j] = tilewright_load(sources[j]);
            sources[j] += 4;
        }
        to = tilewright_store_halves(pixels, is_signed, 0, v, to);
        to = tilewright_store_halves(pixels, is_signed, 1, v, to);
    }
    if (left == 3 && count > 3) {
        uint32_t v[4];
        TILEWRIGHT_UNROLL
        for (int j = 0; j < pixels; j++) {
            v[j] = tilewright_load(sources[j] - 1);
        }
        to = tilewright_store_halves(pixels, is_signed, 0, v, to);
        to = tilewright_store_halves(pixels, is_signed, 1, v, to);
    } else {
        uint32_t v[4];
        if (left > 1) {
            TILEWRIGHT_UNROLL
            for (int j = 0; j < pixels; j++) {
                v[j] = tilewright_bottoms(
                    tilewright_input(is_signed, sources[j]), tilewright_input(is_signed, sources[j] + 1));
            }
            to = tilewright_store(pixels, to, v);
        }
        if (left % 2 == 1) {
            TILEWRIGHT_UNROLL
            for (int j = 0; j < pixels; j++) {
                v[j] = tilewright_input(is_signed, sources[j] + left - 1);
            }
            to = tilewright_store(pixels, to, v);
        }
    }
    return to;
}

/* The same for one pixel, its words `step` apart. */
TILEWRIGHT_INTO void tilewright_widen_one(
    const int step, const int is_signed, const int count, const int8_t *s, uint32_t *to)
{
    const int left = count % 4;
    TILEWRIGHT_UNROLL_FOUR
    for (int i = 0; i < count / 4; i++) {
        const uint32_t v = tilewright_load(s);
        s += 4;
        to[0] = is_signed ? tilewright_even(v) : tilewright_even_unsigned(v);
        to[step] = is_signed ? tilewright_odd(v) : tilewright_odd_unsigned(v);
        to += 2 * step;
    }
    if (left == 3 && count > 3) {
        const uint32_t v = tilewright_load(s - 1);
        to[0] = is_signed ? tilewright_even(v) : tilewright_even_unsigned(v);
        to[step] = is_signed ? tilewright_odd(v) : tilewright_odd_unsigned(v);
    } else {
        if (left > 1) {
            *to = tilewright_bottoms(tilewright_input(is_signed, s), tilewright_input(is_signed, s + 1));
            to += step;
        }
        if (left % 2 == 1) {
            *to = tilewright_input(is_signed, s + left - 1);
        }
    }
}

#if defined(TILEWRIGHT_IN_C)
TILEWRIGHT_INTO const uint32_t *tilewright_unrolled(
    const int pixels, const int paired, const int is_signed, const int channels, const int steps, const int shift,
    const int stride, const uint32_t *w, tilewright_unrolled_frame *f)
{
    for (; f->y != f->last; f->y += channels) {
        const uint32_t *const starts = w;
        int32_t s[2][4];
        w += channels;
        for (int j = 0; j < pixels; j++) {
            s[0][j] = (int32_t)starts[0];
            s[1][j] = (int32_t)starts[channels - 1];
        }
        for (int i = 0; i < steps; i++) {
            const uint32_t first = paired ? tilewright_even(w[0]) : w[0];
            const uint32_t second = w[paired ? 0 : channels - 1];
            for (int j = 0; j < pixels; j++) {
                s[0][j] = tilewright_smlad(f->xs[i * pixels + j], first, s[0][j]);
                s[1][j] = tilewright_smlad(f->xs[i * pixels + j], second, s[1][j]);
            }
            w += paired ? 1 : channels;
        }
        for (int o = 0; o < channels; o++) {
            for (int j = 0; j < pixels; j++) {
                const int odd = paired && o == 1;
                const int32_t sum = odd ? (int32_t)((uint32_t)s[1][j] - (uint32_t)s[0][j]) >> 8 : s[o][j];
                const int32_t code = tilewright_scale(sum, (int32_t)w[o], f->addend) >> shift;
                f->y[j * stride + o] =
                    (int8_t)(is_signed ? tilewright_saturate(code) : tilewright_saturate_unsigned(code));
            }
        }
        w += channels;
    }
    return w;
}
#define TILEWRIGHT_UNROLLED(name, pixels, paired, is_signed, channels) \
    TILEWRIGHT_INTO const uint32_t *tilewright_##name( \
        const int steps, const int shift, const int stride, const uint32_t *w, tilewright_unrolled_frame *f) \
    { \
        return tilewright_unrolled(pixels, paired, is_signed, channels, steps, shift, stride, w, f); \
    }
#define TILEWRIGHT_UNROLLED_EACH(pixels, sign, is_signed) \
    TILEWRIGHT_UNROLLED(pairs##pixels##_wide##sign, pixels, 0, is_signed, 2) \
    TILEWRIGHT_UNROLLED(pairs##pixels##_paired##sign, pixels, 1, is_signed, 2) \
    TILEWRIGHT_UNROLLED(one##pixels##sign, pixels, 0, is_signed, 1)
#define TILEWRIGHT_UNROLLED_BOTH(pixels) \
    TILEWRIGHT_UNROLLED_EACH(pixels, , 1) \
    TILEWRIGHT_UNROLLED_EACH(pixels, _unsigned, 0)
#else
#define TILEWRIGHT_MOST_STEPS 33
#define TILEWRIGHT_WORDS_WIDE "ldrd %[q], %[e], [%[w]], #8\n\t"
#define TILEWRIGHT_WORDS_PAIRED "ldr %[e], [%[w]], #4\n\tsxtb16.w %[q], %[e]\n\t"
#define TILEWRIGHT_FIRST(number, x) \
    "smlad %[s" number "], %[" x "], %[q], %[s0]\n\tsmlad %[t" number "], %[" x "], %[e], %[t0]\n\t"
#define TILEWRIGHT_ADD(number, x) \
    "smlad %[s" number "], %[" x "], %[q], %[s" number "]\n\tsmlad %[t" number "], %[" x "], %[e], %[t" number "]\n\t"
#define TILEWRIGHT_FIRST_OF_ONE(number, x) "smlad %[s" number "], %[" x "], %[q], %[s0]\n\t"
#define TILEWRIGHT_ADD_TO_ONE(number, x) "smlad %[s" number "], %[" x "], %[q], %[s" number "]\n\t"
#define TILEWRIGHT_FIRST_STEP2(first) "ldrd %[a], %[b], [%[x]], #8\n\t" first("1", "b") first("0", "a")
#define TILEWRIGHT_FIRST_STEP3(first) \
    "ldr %[a], [%[x], #8]\n\t" first("2", "a") "ldrd %[a], %[b], [%[x]], #12\n\t" first("1", "b") first("0", "a")
#define TILEWRIGHT_FIRST_STEP4(first) \
    "ldrd %[a], %[b], [%[x], #8]\n\t" first("2", "a") first("3", "b") \
    "ldrd %[a], %[b], [%[x]], #16\n\t" first("1", "b") first("0", "a")
#define TILEWRIGHT_STEP2(add) "ldrd %[a], %[b], [%[x]], #8\n\t" add("0", "a") add("1", "b")
#define TILEWRIGHT_STEP3(add) TILEWRIGHT_STEP2(add) "ldr %[a], [%[x]], #4\n\t" add("2", "a")
#define TILEWRIGHT_STEP4(add) TILEWRIGHT_STEP2(add) "ldrd %[a], %[b], [%[x]], #8\n\t" add("2", "a") add("3", "b")
/* All steps but the first: `rest` of them in a row, then, where `loops`, blocks of sixteen up to the end. */
#define TILEWRIGHT_STEPS(step) \
    ".rept %c[rest]\n\t" step ".endr\n\t.if %c[loops]\n\t1:\n\t.rept 16\n\t" step ".endr\n\t" \
    "ldr %[a], %[end]\n\tcmp %[x], %[a]\n\tbne.w 1b\n\t.endif\n\t"
#define TILEWRIGHT_CODE(sum, multiplier, addend, more, saturate, at) \
    "smmla %[" sum "], %[" sum "], %[" multiplier "], %[" addend "]\n\t" \
    saturate "%[" sum "], #8, %[" sum "], asr #%c[shift]" more "\n\tstrb %[" sum "], [%[b], #" at "]\n\t"
#define TILEWRIGHT_CODES_WIDE(number, saturate) \
    TILEWRIGHT_CODE("s" number, "q", "a", "", saturate, "%c[stride]*" number) \
    TILEWRIGHT_CODE("t" number, "e", "a", "", saturate, "%c[stride]*" number "+1")
#define TILEWRIGHT_CODES_PAIRED(number, saturate) \
    "sub %[t" number "], %[t" number "], %[s" number "]\n\t" \
    TILEWRIGHT_CODE("s" number, "q", "a", "", saturate, "%c[stride]*" number) \
    TILEWRIGHT_CODE("t" number, "e", "x", "+8", saturate, "%c[stride]*" number "+1")
#define TILEWRIGHT_CODES_OF_ONE(number, saturate) TILEWRIGHT_CODE("s" number, "q", "a", "", saturate, "%c[stride]*" number)
#define TILEWRIGHT_ADDENDS_WIDE ""
#define TILEWRIGHT_ADDENDS_PAIRED "lsl %[x], %[a], #8\n\t"
#define TILEWRIGHT_ALL2(codes, saturate) codes("0", saturate) codes("1", saturate)
#define TILEWRIGHT_ALL3(codes, saturate) TILEWRIGHT_ALL2(codes, saturate) codes("2", saturate)
#define TILEWRIGHT_ALL4(codes, saturate) TILEWRIGHT_ALL3(codes, saturate) codes("3", saturate)
#define TILEWRIGHT_PAIR_BY_PAIR(pixels, form, saturate) \
    "2:\n\tldrd %[s0], %[t0], [%[w]], #8\n\t" \
    TILEWRIGHT_WORDS_##form TILEWRIGHT_FIRST_STEP##pixels(TILEWRIGHT_FIRST) \
    TILEWRIGHT_STEPS(TILEWRIGHT_WORDS_##form TILEWRIGHT_STEP##pixels(TILEWRIGHT_ADD)) \
    "ldrd %[q], %[e], [%[w]], #8\n\tldrd %[a], %[b], %[addend]\n\t" TILEWRIGHT_ADDENDS_##form \
    TILEWRIGHT_ALL##pixels(TILEWRIGHT_CODES_##form, saturate) \
    "ldrd %[x], %[a], %[xs]\n\tadd %[b], %[b], #2\n\tstr %[b], %[y]\n\tcmp %[b], %[a]\n\tbne.w 2b\n\t"
#define TILEWRIGHT_LAST_ONE(pixels, form, saturate) \
    "ldr %[s0], [%[w]], #4\n\tldr %[q], [%[w]], #4\n\t" TILEWRIGHT_FIRST_STEP##pixels(TILEWRIGHT_FIRST_OF_ONE) \
    TILEWRIGHT_STEPS("ldr %[q], [%[w]], #4\n\t" TILEWRIGHT_STEP##pixels(TILEWRIGHT_ADD_TO_ONE)) \
    "ldr %[q], [%[w]], #4\n\tldrd %[a], %[b], %[addend]\n\t" TILEWRIGHT_ALL##pixels(TILEWRIGHT_CODES_OF_ONE, saturate)
#define TILEWRIGHT_UNROLLED(name, text) \
    TILEWRIGHT_INTO const uint32_t *tilewright_##name( \
        const int steps, const int shift, const int stride, const uint32_t *w, tilewright_unrolled_frame *f) \
    { \
        const int loops = steps > TILEWRIGHT_MOST_STEPS; \
        const int rest = loops ? (steps - 1) % 16 : steps - 1; \
        const uint32_t *x = f->xs; \
        uint32_t s0, s1, s2, s3, t0, t1, t2, t3, q, e, a, b; \
        __asm__ volatile(text \
            : [s0] "=&r"(s0), [t0] "=&r"(t0), [s1] "=&r"(s1), [t1] "=&r"(t1), [s2] "=&r"(s2), [t2] "=&r"(t2), \
              [s3] "=&r"(s3), [t3] "=&r"(t3), [q] "=&r"(q), [e] "=&r"(e), [a] "=&r"(a), [b] "=&r"(b), [x] "+&r"(x), \
              [w] "+&r"(w), [y] "+m"(f->y) \
            : [addend] "m"(f->addend), [xs] "m"(f->xs), "m"(f->last), [end] "m"(f->end), [rest] "i"(rest), \
              [loops] "i"(loops), [shift] "i"(shift), [stride] "i"(stride) \
            : "cc", "memory"); \
        return w; \
    }
#define TILEWRIGHT_UNROLLED_EACH(pixels, sign, saturate) \
    TILEWRIGHT_UNROLLED(pairs##pixels##_wide##sign, TILEWRIGHT_PAIR_BY_PAIR(pixels, WIDE, saturate)) \
    TILEWRIGHT_UNROLLED(pairs##pixels##_paired##sign, TILEWRIGHT_PAIR_BY_PAIR(pixels, PAIRED, saturate)) \
    TILEWRIGHT_UNROLLED(one##pixels##sign, TILEWRIGHT_LAST_ONE(pixels, WIDE, saturate))
#define TILEWRIGHT_UNROLLED_BOTH(pixels) \
    TILEWRIGHT_UNROLLED_EACH(pixels, , "ssat ") \
    TILEWRIGHT_UNROLLED_EACH(pixels, _unsigned, "usat ")
#endif

TILEWRIGHT_UNROLLED_BOTH(2)
TILEWRIGHT_UNROLLED_BOTH(3)
TILEWRIGHT_UNROLLED_BOTH(4)
