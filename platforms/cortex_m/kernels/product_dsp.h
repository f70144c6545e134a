/* Matrix products of two operands of the run time. Some columns of the right-hand side are packed as the matrix core reads
 * its weights, in bytes; then rows of the left-hand side are widened, less their zero point, and multiplied by them. What
 * the zero point of the right-hand side takes off a row is in the starts of its sums. It brings tilewright_product_pack,
 * tilewright_product, and for 1 to 4 rows at a time
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
} tilewright_product;

/* Up to four codes, of which `count` are there; `missing` stands for the others. */
TILEWRIGHT_INTO uint32_t tilewright_product_word(const int8_t *from, int count, int32_t step, uint32_t missing)
{
    if (step == 1 && count >= 4) {
        return tilewright_load(from);
    }
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        word = word >> 8 | (i < count ? (uint32_t)(uint8_t)from[i * step] : missing & 255u) << 24;
    }
    return word;
}

/* Pairs of columns, one behind the other: of each four inputs the words of 0 and 2 and of 1 and 3, which hold the bytes of
 * the first column and the second in turn. Inputs that are missing are multiplied by zeros. */
TILEWRIGHT_ONCE void tilewright_product_pack(const int8_t *b, uint32_t *to, const tilewright_product *p)
{
    const int32_t line = p->b_line;
    const int32_t step = p->b_step;
    const uint32_t flip = p->b_flip;
    const int depth = p->depth;
    if (line == 1 && p->columns % 4 == 0) {
        const int pair = (depth + 3) / 4 * 2;
        for (int n = 0; n < p->columns; n += 4) {
            const int8_t *at = b + n;
            for (int i = 0; i < depth; i += 4) {
                const int last = depth - 1 - i;
                const uint32_t v0 = tilewright_load(at) ^ flip;
                const uint32_t v1 = tilewright_load(at + (last < 1 ? 0 : step)) ^ flip;
                const uint32_t v2 = tilewright_load(at + (last < 2 ? 0 : 2 * step)) ^ flip;
                const uint32_t v3 = tilewright_load(at + (last < 3 ? 0 : 3 * step)) ^ flip;
                at += last < 4 ? 0 : 4 * step;
                to[0] = tilewright_bottoms(v0, v2);
                to[1] = tilewright_bottoms(v1, v3);
                to[pair] = tilewright_tops(v0, v2);
                to[pair + 1] = tilewright_tops(v1, v3);
                to += 2;
            }
            to += pair;
        }
        return;
    }
    for (int n = 0; n < p->columns; n += 2) {
        for (int i = 0; i < depth; i += 4) {
            const int8_t *const at = b + n * line + i * step;
            const uint32_t first = tilewright_product_word(at, depth - i, step, 0) ^ flip;
            const uint32_t second = tilewright_product_word(at + line, depth - i, step, 0) ^ flip;
            *to++ = tilewright_even_unsigned(first) | tilewright_even_unsigned(second) << 8;
            *to++ = tilewright_odd_unsigned(first) | tilewright_odd_unsigned(second) << 8;
        }
    }
}

/* Widens a row into every `pixels`-th word; the sum of what is there. */
TILEWRIGHT_INTO int32_t tilewright_product_widen(
    const int pixels, const int8_t *a, uint32_t *to, const tilewright_product *p)
{
    const uint32_t flip = p->a_flip;
    const uint32_t zero = (uint32_t)(p->a_zero & 0xffff) * 0x10001u;
    const uint32_t missing = zero ^ flip;
    const int32_t step = p->a_step;
    int32_t sum = 0;
    for (int left = p->depth; left > 0; left -= 4) {
        const uint32_t codes = tilewright_product_word(a, left, step, missing) ^ flip;
        const uint32_t even = tilewright_ssub16(tilewright_even(codes), zero);
        const uint32_t odd = tilewright_ssub16(tilewright_odd(codes), zero);
        a += left > 4 ? 4 * step : 0;
        to[0] = even;
        to[pixels] = odd;
        to += 2 * pixels;
        sum = tilewright_smlad(even, 0x10001u, tilewright_smlad(odd, 0x10001u, sum));
    }
    return sum;
}

/* All rows times the packed columns; `xs` takes the widened rows of a block. */
TILEWRIGHT_INTO void tilewright_product_blocks(
    const int pixels, const int form, const int8_t *a, const uint32_t *packed, uint32_t *xs,
    int8_t *y, const int32_t *codes, const tilewright_product *p)
{
    const int pairs = (p->depth + 3) / 4 * 2;
    for (int row = 0; row < p->rows; row += pixels) {
        const int first = row < p->rows - pixels ? row : p->rows - pixels;
        int32_t starts[4];
        for (int j = 0; j < pixels; j++) {
            starts[j] = -p->b_zero * tilewright_product_widen(pixels, a + (first + j) * p->a_line, xs + j, p);
        }
        const uint32_t *w = packed;
        int8_t *to = y + first * p->y_line;
        for (int n = 0; n < p->columns; n += 2) {
            int32_t acc[2][4];
            TILEWRIGHT_UNROLL
            for (int j = 0; j < 4; j++) {
                acc[0][j] = acc[1][j] = j < pixels ? starts[j] : 0;
            }
            w = tilewright_sum(pixels, 0, xs, w, pairs, acc[0], acc[1]);
            const int32_t addend = form & TILEWRIGHT_SUMS ? 0 : codes[0];
            const int32_t shift = form & TILEWRIGHT_SUMS ? 0 : codes[1];
            const int32_t multiplier = form & TILEWRIGHT_SUMS ? 0 : codes[4];
            TILEWRIGHT_UNROLL
            for (int o = 0; o < 2; o++) {
                int8_t *at = to;
                TILEWRIGHT_UNROLL
                for (int j = 0; j < pixels; j++) {
                    if (form & TILEWRIGHT_SUMS) {
                        memcpy(at, &acc[o][j], sizeof acc[o][j]);
                        at += p->y_line;
                        continue;
                    }
                    const int32_t code = form & TILEWRIGHT_EXACT ? tilewright_product_exact(acc[o][j], codes)
                                                                 : tilewright_scale(acc[o][j], multiplier, addend) >> shift;
                    *at = (int8_t)tilewright_limit(form, code, codes);
                    at += p->y_line;
                }
                to += p->y_step;
            }
        }
    }
}

#define TILEWRIGHT_PRODUCT(pixels, name, form) \
    TILEWRIGHT_ONCE void tilewright_product##pixels##name(const int8_t *a, const uint32_t *packed, \
        uint32_t *xs, int8_t *y, const int32_t *codes, const tilewright_product *p) \
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
