/* Matrix products of two operands of the run time. Some columns of the right-hand side are packed as the matrix core reads
 * its weights, in bytes; then rows of the left-hand side are widened, less their zero point, and multiplied by them. What
 * the zero point of the right-hand side takes off a row is in the starts of its sums. It brings tilewright_product_pack,
 * tilewright_dsp_product, and for 1 to 4 rows at a time
 *   tilewright_product1 tilewright_product2 tilewright_product3 tilewright_product4
 *   tilewright_product1_limited tilewright_product2_limited tilewright_product3_limited tilewright_product4_limited
 *   tilewright_product1_exact tilewright_product2_exact tilewright_product3_exact tilewright_product4_exact
 *   tilewright_product1_sums tilewright_product2_sums tilewright_product3_sums tilewright_product4_sums
 */
#define TILEWRIGHT_EXACT 32 /* codes by tilewright_product_exact */
#define TILEWRIGHT_SUMS 64 /* the sums themselves, of 32 bits; no codes are read */

/* Steps count bytes: `line` from row to row or column to column, `step` from input to input. `flip` makes signed codes of
 * unsigned ones, `zero` is the zero point of the signed ones. */
typedef struct {
    int rows;
    int depth;
    int columns;
    int32_t a_line;
    int32_t a_step;
    uint32_t a_flip;
    int32_t a_zero;
    int32_t b_line;
    int32_t b_step;
    uint32_t b_flip;
    int32_t b_zero;
    int32_t y_line;
    int32_t y_step;
} tilewright_dsp_product;

/* Up to four codes, of which `count` are there; `missing` stands for the others. */
TILEWRIGHT_INTO uint32_t tilewright_product_word(const int8_t *from, int count, int32_t step, uint32_t missing)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        word = word >> 8 | (i < count ? (uint32_t)(uint8_t)from[i * step] : missing & 255u) << 24;
    }
    return word;
}

/* The same of one to three codes side by side behind at least three others. */
TILEWRIGHT_INTO uint32_t tilewright_product_last(const int8_t *from, int count, uint32_t missing)
{
    const uint32_t others = (missing & 255u) * 0x01010101u;
    return tilewright_load(from + count - 4) >> (unsigned)(32 - 8 * count) | others << (unsigned)(8 * count);
}

/* Pairs of inputs: of each four those of 0 and 2 and of 1 and 3, of two that are left both in one, of one the first. */
TILEWRIGHT_INTO int tilewright_product_pairs(const tilewright_dsp_product *p)
{
    return (p->depth + 1) / 2;
}

/* The first column of a pair; the last ones of an odd number overlap. */
TILEWRIGHT_INTO int tilewright_product_first(const tilewright_dsp_product *p, int pair)
{
    const int left = p->columns - 2 * ((p->columns + 1) / 2 - pair);
    return pair < p->columns / 4 * 2 ? 2 * pair : left < 0 ? 0 : left;
}

/* Up to four inputs of two columns, of which `left` and more are there; how many words they are. */
TILEWRIGHT_INTO int tilewright_product_both(uint32_t first, uint32_t second, uint32_t *to, int left)
{
    const uint32_t even = tilewright_even_unsigned(first) | tilewright_even_unsigned(second) << 8;
    const uint32_t odd = tilewright_odd_unsigned(first) | tilewright_odd_unsigned(second) << 8;
    to[0] = left == 2 ? tilewright_bottoms(even, odd) : even;
    if (left <= 2) {
        return 1;
    }
    to[1] = odd;
    return 2;
}

/* Pairs of columns, one behind the other: words of pairs of inputs, which hold the bytes of the first column and the second
 * in turn. Inputs that are missing are multiplied by zeros. */
TILEWRIGHT_ONCE void tilewright_product_pack(const int8_t *b, uint32_t *to, const tilewright_dsp_product *p)
{
    const int32_t line = p->b_line;
    const int32_t step = p->b_step;
    const uint32_t flip = p->b_flip;
    const int depth = p->depth;
    const int pair = tilewright_product_pairs(p);
    if (line == 1 && p->columns >= 4) {
        for (int n = 0; n < p->columns; n += 4) {
            const int left = p->columns - n;
            const int8_t *at = b + (left < 4 ? p->columns - 4 : n);
            uint32_t *second = left < 3 ? to : to + pair;
            for (int i = 0; i < depth; i += 4) {
                const int last = depth - 1 - i;
                const uint32_t v0 = tilewright_load(at) ^ flip;
                const uint32_t v1 = tilewright_load(at + (last < 1 ? 0 : step)) ^ flip;
                if (last < 2) {
                    *to++ = tilewright_bottoms(v0, v1);
                    *second++ = tilewright_tops(v0, v1);
                    break;
                }
                const uint32_t v2 = tilewright_load(at + 2 * step) ^ flip;
                const uint32_t v3 = tilewright_load(at + (last < 3 ? 0 : 3 * step)) ^ flip;
                at += 4 * step;
                to[0] = tilewright_bottoms(v0, v2);
                to[1] = tilewright_bottoms(v1, v3);
                second[0] = tilewright_tops(v0, v2);
                second[1] = tilewright_tops(v1, v3);
                to += 2;
                second += 2;
            }
            to = second;
        }
        return;
    }
    for (int j = 0; 2 * j < p->columns; j++) {
        const int8_t *at = b + tilewright_product_first(p, j) * line;
        const int8_t *other = at + line;
        int left = depth;
        if (step == 1 && depth >= 4) {
            for (; left >= 4; left -= 4) {
                tilewright_product_both(tilewright_load(at) ^ flip, tilewright_load(other) ^ flip, to, 4);
                at += 4;
                other += 4;
                to += 2;
            }
            if (left != 0) {
                const uint32_t first = tilewright_product_last(at, left, 0) ^ flip;
                const uint32_t second = tilewright_product_last(other, left, 0) ^ flip;
                to += tilewright_product_both(first, second, to, left);
            }
        }
        for (; left > 0 && (step != 1 || depth < 4); left -= 4) {
            const uint32_t first = tilewright_product_word(at, left, step, 0) ^ flip;
            const uint32_t second = tilewright_product_word(other, left, step, 0) ^ flip;
            to += tilewright_product_both(first, second, to, left);
            at += 4 * step;
            other += 4 * step;
        }
    }
}

/* Up to four codes of a row, less their zero point, into words that lie `pixels` apart; the sum of all so far. */
TILEWRIGHT_INTO int32_t tilewright_product_wide(
    const int pixels, uint32_t codes, uint32_t zero, int32_t sum, uint32_t *to, int left)
{
    const uint32_t even = tilewright_ssub16(tilewright_even(codes), zero);
    const uint32_t odd = tilewright_ssub16(tilewright_odd(codes), zero);
    to[0] = left == 2 ? tilewright_bottoms(even, odd) : even;
    if (left > 2) {
        to[pixels] = odd;
    }
    return tilewright_smlad(even, 0x10001u, tilewright_smlad(odd, 0x10001u, sum));
}

/* Widens a row of codes that lie apart, or of few, into every `pixels`-th word; the sum of what is there. */
TILEWRIGHT_ONCE int32_t tilewright_product_apart(int pixels, const int8_t *a, uint32_t *to, const tilewright_dsp_product *p)
{
    const uint32_t flip = p->a_flip;
    const uint32_t zero = (uint32_t)(p->a_zero & 0xffff) * 0x10001u;
    const int32_t step = p->a_step;
    int32_t sum = 0;
    for (int left = p->depth; left > 0; left -= 4) {
        const uint32_t codes = tilewright_product_word(a, left, step, zero ^ flip) ^ flip;
        sum = tilewright_product_wide(pixels, codes, zero, sum, to, left);
        a += 4 * step;
        to += 2 * pixels;
    }
    return sum;
}

/* Widens one or two rows of at least four codes side by side in the same way; `sums` are theirs. */
TILEWRIGHT_INTO void tilewright_product_widen(const int pixels, const int rows, const int8_t *a, int32_t line, int depth,
    uint32_t flip, uint32_t zero, uint32_t *to, int32_t *sums)
{
    const int8_t *at[2];
    int32_t sum[2] = {0, 0};
    int left = depth;
    at[0] = a;
    at[1] = a + line;
    do {
        TILEWRIGHT_UNROLL
        for (int j = 0; j < rows; j++) {
            sum[j] = tilewright_product_wide(pixels, tilewright_load(at[j]) ^ flip, zero, sum[j], to + j, 4);
            at[j] += 4;
        }
        to += 2 * pixels;
        left -= 4;
    } while (left >= 4);
    if (left != 0) {
        TILEWRIGHT_UNROLL
        for (int j = 0; j < rows; j++) {
            const uint32_t codes = tilewright_product_last(at[j], left, zero ^ flip) ^ flip;
            sum[j] = tilewright_product_wide(pixels, codes, zero, sum[j], to + j, left);
        }
    }
    TILEWRIGHT_UNROLL
    for (int j = 0; j < rows; j++) {
        sums[j] = sum[j];
    }
}

/* What a block of rows and a number of pairs of columns are computed from. */
typedef struct {
    const uint32_t *xs;
    const uint32_t *end;
    int32_t skip;
    int32_t starts[4];
    int8_t *y;
    int32_t pairs;
    int32_t line;
    int32_t step;
    int32_t multiplier;
    int32_t addend;
    int32_t shift;
} tilewright_product_frame;

#if !defined(TILEWRIGHT_IN_C)
/* Pairs of columns without limits of their own in one piece: what its C leaves between two sums costs more than short sums. */
#define TILEWRIGHT_PRODUCT_START(number) "mov %[t" #number "], %[s" #number "]\n\t"
#define TILEWRIGHT_PRODUCT_TWO TILEWRIGHT_PRODUCT_START(0) TILEWRIGHT_PRODUCT_START(1)
#define TILEWRIGHT_PRODUCT_STARTS1 "ldr %[s0], %[starts]\n\t" TILEWRIGHT_PRODUCT_START(0)
#define TILEWRIGHT_PRODUCT_STARTS2 "ldrd %[s0], %[s1], %[starts]\n\t" TILEWRIGHT_PRODUCT_TWO
#define TILEWRIGHT_PRODUCT_STARTS3 TILEWRIGHT_PRODUCT_STARTS2 "ldr %[s2], %[others]\n\t" TILEWRIGHT_PRODUCT_START(2)
#define TILEWRIGHT_PRODUCT_STARTS4 \
    TILEWRIGHT_PRODUCT_STARTS2 "ldrd %[s2], %[s3], %[others]\n\t" TILEWRIGHT_PRODUCT_START(2) TILEWRIGHT_PRODUCT_START(3)
#define TILEWRIGHT_PRODUCT_TO_CODES(number) \
    "smmla %[s" #number "], %[s" #number "], %[q], %[a]\n\tsmmla %[t" #number "], %[t" #number "], %[q], %[a]\n\t" \
    "asr %[s" #number "], %[s" #number "], %[b]\n\tssat %[s" #number "], #8, %[s" #number "]\n\t" \
    "asr %[t" #number "], %[t" #number "], %[b]\n\tssat %[t" #number "], #8, %[t" #number "]\n\t" \
    "strb %[s" #number "], [%[e]]\n\tstrb %[t" #number "], [%[e], %[x]]\n\t"
#define TILEWRIGHT_PRODUCT_NEXT(number) "add %[e], %[e], %[s0]\n\t" TILEWRIGHT_PRODUCT_TO_CODES(number)
#define TILEWRIGHT_PRODUCT_CODES1 TILEWRIGHT_PRODUCT_TO_CODES(0)
#define TILEWRIGHT_PRODUCT_CODES2 TILEWRIGHT_PRODUCT_CODES1 "ldr %[s0], %[line]\n\t" TILEWRIGHT_PRODUCT_NEXT(1)
#define TILEWRIGHT_PRODUCT_CODES3 TILEWRIGHT_PRODUCT_CODES2 TILEWRIGHT_PRODUCT_NEXT(2)
#define TILEWRIGHT_PRODUCT_CODES4 TILEWRIGHT_PRODUCT_CODES3 TILEWRIGHT_PRODUCT_NEXT(3)

#define TILEWRIGHT_PRODUCT_RUN(pixels) \
    do { \
        uint32_t s0, s1, s2, s3, t0, t1, t2, t3, x, q, e, a, b; \
        __asm__ volatile( \
            "2:\n\t" TILEWRIGHT_PRODUCT_STARTS##pixels "ldr %[x], %[xs]\n\tldr %[e], %[skip]\n\tadd pc, %[e]\n\tnop\n\t" \
            "1:\n\t" TILEWRIGHT_FOUR_TIMES TILEWRIGHT_WIDE##pixels TILEWRIGHT_WIDE##pixels TILEWRIGHT_WIDE##pixels \
            TILEWRIGHT_WIDE##pixels TILEWRIGHT_END \
            "ldr %[e], %[end]\n\tcmp %[x], %[e]\n\tbne.w 1b\n\t" \
            "ldrd %[a], %[b], %[addend]\n\tldr %[q], %[multiplier]\n\tldr %[e], %[y]\n\tldr %[x], %[step]\n\t" \
            TILEWRIGHT_PRODUCT_CODES##pixels \
            "ldr %[e], %[y]\n\tadd %[e], %[e], %[x], lsl #1\n\tstr %[e], %[y]\n\t" \
            "ldr %[e], %[count]\n\tsubs %[e], %[e], #1\n\tstr %[e], %[count]\n\tbne.w 2b\n\t" \
            : [s0] "=&r"(s0), [t0] "=&r"(t0), [s1] "=&r"(s1), [t1] "=&r"(t1), [s2] "=&r"(s2), [t2] "=&r"(t2), \
              [s3] "=&r"(s3), [t3] "=&r"(t3), [x] "=&r"(x), [q] "=&r"(q), [e] "=&r"(e), [a] "=&r"(a), [b] "=&r"(b), \
              [w] "+r"(w), [y] "+m"(f->y), [count] "+m"(f->pairs) \
            : [xs] "m"(f->xs), [end] "m"(f->end), [skip] "m"(f->skip), [starts] "m"(f->starts[0]), [others] "m"(f->starts[2]), \
              [line] "m"(f->line), [step] "m"(f->step), [multiplier] "m"(f->multiplier), [addend] "m"(f->addend), "m"(f->shift) \
            : "cc", "memory"); \
    } while (0)
#endif

/* The pairs of columns of a frame, whose weights begin at `w`, times its rows; the weights behind them. */
TILEWRIGHT_INTO const uint32_t *tilewright_product_run(
    const int pixels, const int form, const uint32_t *w, tilewright_product_frame *f, const int32_t *codes)
{
#if !defined(TILEWRIGHT_IN_C)
    if (form == 0) {
        if (pixels == 1) {
            TILEWRIGHT_PRODUCT_RUN(1);
        } else if (pixels == 2) {
            TILEWRIGHT_PRODUCT_RUN(2);
        } else if (pixels == 3) {
            TILEWRIGHT_PRODUCT_RUN(3);
        } else {
            TILEWRIGHT_PRODUCT_RUN(4);
        }
        return w;
    }
#endif
    int8_t *y = f->y;
    for (int n = 0; n < f->pairs; n++) {
        int32_t acc[2][4];
        TILEWRIGHT_UNROLL
        for (int j = 0; j < 4; j++) {
            acc[0][j] = acc[1][j] = j < pixels ? f->starts[j] : 0;
        }
        w = tilewright_sum(pixels, 0, f->xs, w, (int)(f->end - f->xs) / pixels, acc[0], acc[1]);
        const int32_t addend = f->addend;
        const int32_t shift = f->shift;
        const int32_t multiplier = f->multiplier;
        TILEWRIGHT_UNROLL
        for (int o = 0; o < 2; o++) {
            int8_t *at = y;
            TILEWRIGHT_UNROLL
            for (int j = 0; j < pixels; j++) {
                if (form & TILEWRIGHT_SUMS) {
                    memcpy(at, &acc[o][j], sizeof acc[o][j]);
                    at += f->line;
                    continue;
                }
                const int32_t code = form & TILEWRIGHT_EXACT ? tilewright_product_exact(acc[o][j], codes)
                                                             : tilewright_scale(acc[o][j], multiplier, addend) >> shift;
                *at = (int8_t)tilewright_limit(form, code, codes);
                at += f->line;
            }
            y += f->step;
        }
    }
    return w;
}

/* All rows times the packed columns; `xs` takes the widened rows of a block. */
TILEWRIGHT_INTO void tilewright_product_blocks(
    const int pixels, const int form, const int8_t *a, const uint32_t *packed, uint32_t *xs,
    int8_t *y, const int32_t *codes, const tilewright_dsp_product *p)
{
    const int columns = (p->columns + 1) / 2;
    const int fours = p->columns % 2 == 0 ? columns : p->columns / 4 * 2;
    const int pairs = tilewright_product_pairs(p);
    const int step_bytes = (3 + pixels * 2 + (pixels + 1) / 2) * 4;
    const uint32_t flip = p->a_flip;
    const uint32_t zero = (uint32_t)(p->a_zero & 0xffff) * 0x10001u;
    const int32_t line = p->a_line;
    const int depth = p->depth;
    const bool beside = p->a_step == 1 && depth >= 4;
    const bool sums_alone = (form & TILEWRIGHT_SUMS) != 0;
    tilewright_product_frame f = {xs, xs + pairs * pixels, (-pairs & 15) * step_bytes, {0, 0, 0, 0}, y, 0, p->y_line, p->y_step,
        sums_alone ? 0 : codes[4], sums_alone ? 0 : codes[0], sums_alone ? 0 : codes[1]};
    for (int row = 0; row < p->rows; row += pixels) {
        const int first = row < p->rows - pixels ? row : p->rows - pixels;
        TILEWRIGHT_UNROLL
        for (int j = 0; j < pixels; j += 2) {
            const int8_t *const from = a + (first + j) * line;
            if (beside) {
                tilewright_product_widen(
                    pixels, pixels - j < 2 ? 1 : 2, from, line, depth, flip, zero, xs + j, &f.starts[j]);
                continue;
            }
            for (int i = 0; i < 2 && j + i < pixels; i++) {
                f.starts[j + i] = tilewright_product_apart(pixels, from + i * line, xs + j + i, p);
            }
        }
        TILEWRIGHT_UNROLL
        for (int j = 0; j < pixels; j++) {
            f.starts[j] = -p->b_zero * f.starts[j];
        }
        const uint32_t *w = packed;
        int n = 0;
        while (n < columns) {
            const int last = n < fours ? fours : p->columns < 4 ? n + 1 : columns;
            f.y = y + first * p->y_line + tilewright_product_first(p, n) * p->y_step;
            f.pairs = last - n;
            w = tilewright_product_run(pixels, form, w, &f, codes);
            n = last;
        }
    }
}

#define TILEWRIGHT_PRODUCT(pixels, name, form) \
    TILEWRIGHT_ONCE void tilewright_product##pixels##name(const int8_t *a, const uint32_t *packed, \
        uint32_t *xs, int8_t *y, const int32_t *codes, const tilewright_dsp_product *p) \
    { \
        tilewright_product_blocks(pixels, form, a, packed, xs, y, codes, p); \
    }
TILEWRIGHT_PRODUCT(1, , 0)
TILEWRIGHT_PRODUCT(2, , 0)
TILEWRIGHT_PRODUCT(3, , 0)
TILEWRIGHT_PRODUCT(4, , 0)
TILEWRIGHT_PRODUCT(1, _limited, TILEWRIGHT_LIMITED)
TILEWRIGHT_PRODUCT(2, _limited, TILEWRIGHT_LIMITED)
TILEWRIGHT_PRODUCT(3, _limited, TILEWRIGHT_LIMITED)
TILEWRIGHT_PRODUCT(4, _limited, TILEWRIGHT_LIMITED)
TILEWRIGHT_PRODUCT(1, _exact, TILEWRIGHT_LIMITED | TILEWRIGHT_EXACT)
TILEWRIGHT_PRODUCT(2, _exact, TILEWRIGHT_LIMITED | TILEWRIGHT_EXACT)
TILEWRIGHT_PRODUCT(3, _exact, TILEWRIGHT_LIMITED | TILEWRIGHT_EXACT)
TILEWRIGHT_PRODUCT(4, _exact, TILEWRIGHT_LIMITED | TILEWRIGHT_EXACT)
TILEWRIGHT_PRODUCT(1, _sums, TILEWRIGHT_SUMS)
TILEWRIGHT_PRODUCT(2, _sums, TILEWRIGHT_SUMS)
TILEWRIGHT_PRODUCT(3, _sums, TILEWRIGHT_SUMS)
TILEWRIGHT_PRODUCT(4, _sums, TILEWRIGHT_SUMS)
