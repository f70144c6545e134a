/* Matrix products of two operands of the run time with vectors: some columns of the right-hand side are packed in eights,
 * then every row is multiplied by eight of them at a time. Columns of up to eight inputs take eight bytes each, and a row of
 * them, read once, has zeros beside the next column's. Sums are over plain codes; the starts of a column and of a row
 * hold what the other operand's zero point takes off. It brings tilewright_product_columns, tilewright_product_lines,
 * tilewright_product_lines_exact and tilewright_product_lines_sums, those of few inputs with _short before the form, and
 * tilewright_product_rows, and takes a tilewright_product_vectors. */
#define TILEWRIGHT_SHORT 1 /* up to eight inputs */
#define TILEWRIGHT_EXACT 32 /* codes by tilewright_product_exact */
#define TILEWRIGHT_SUMS 64 /* the sums themselves, of 32 bits; no codes are read */

#define TILEWRIGHT_SHORT_COLUMN(sum) "vldrb.8 q1, [%[w]], #8\n\tvmladav.s8 %[" sum "], %q[x], q1\n\t"

/* Steps count bytes: `line` from row to row or column to column, `step` from input to input. `flip` makes signed codes of
 * unsigned ones, `zero` is the zero point of the signed ones. */
typedef struct {
    int rows;
    int depth;
    int columns;
    int32_t a_line;
    int32_t a_step;
    int a_flip;
    int32_t a_zero;
    int32_t b_line;
    int32_t b_step;
    int b_flip;
    int32_t b_zero;
    int32_t y_line;
    int32_t y_step;
} tilewright_product_vectors;

/* Up to sixteen inputs of a row or column; zeros behind the last. */
TILEWRIGHT_MVE_INTO int8x16_t tilewright_product_inputs(const int8_t *from, int32_t step, int left, int flip)
{
    const mve_pred16_t there = vctp8q((uint32_t)left);
    if (step == 1) {
        return veorq_m_s8(vdupq_n_s8(0), vldrbq_z_s8(from, there), vdupq_n_s8((int8_t)flip), there);
    }
    int8_t found[16];
    for (int i = 0; i < 16; i++) {
        found[i] = i < left ? (int8_t)(from[i * step] ^ flip) : 0;
    }
    return vldrbq_s8(found);
}

/* Packs [eight columns][sixteen inputs][column][input], and the start of each column. */
TILEWRIGHT_MVE void tilewright_product_columns(
    const int8_t *b, int8_t *to, int32_t *starts, const tilewright_product_vectors *p)
{
    const int steps = (p->depth + 15) / 16;
    const int line = p->depth > 8 ? 16 : 8;
    const mve_pred16_t whole = vctp8q((uint32_t)line);
    const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)line);
    const uint16x8_t from = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)p->b_line);
    for (int first = 0; first < p->columns; first += 8) {
        const int columns = p->columns - first < 8 ? p->columns - first : 8;
        const int8_t *const at = b + first * p->b_line;
        if (p->b_step == 1) {
            const int8x16_t flip = vdupq_n_s8((int8_t)p->b_flip);
            for (int i = 0; i < steps; i++) {
                const mve_pred16_t there = vctp8q((uint32_t)(p->depth - 16 * i));
                const int8_t *inputs = at + 16 * i;
                for (int n = 0; n < columns; n++) {
                    const int8x16_t codes = veorq_m_s8(vdupq_n_s8(0), vldrbq_z_s8(inputs, there), flip, there);
                    vstrbq_p_s8(to + 128 * i + line * n, codes, whole);
                    inputs += p->b_line;
                }
            }
        } else if (p->b_line > 8191) {
            for (int n = 0; n < columns; n++) {
                for (int i = 0; i < steps; i++) {
                    const int8_t *const inputs = at + n * p->b_line + 16 * i * p->b_step;
                    vstrbq_p_s8(to + 128 * i + line * n, tilewright_product_inputs(inputs, p->b_step, p->depth - 16 * i, p->b_flip), whole);
                }
            }
        } else {
            const mve_pred16_t there = vctp16q((uint32_t)columns);
            const int16x8_t flip = vdupq_n_s16((int16_t)p->b_flip);
            const int8_t *codes = at;
            int8_t *place = to;
            for (int n = 0; n < 8; n++) {
                vstrbq_p_s8(to + 128 * (steps - 1) + line * n, vdupq_n_s8(0), whole);
            }
            for (int i = 0; i < p->depth; i++) {
                vstrbq_scatter_offset_s16(place, places, veorq_s16(vldrbq_gather_offset_z_s16(codes, from, there), flip));
                codes += p->b_step;
                place += i % 16 == 15 ? 113 : 1;
            }
        }
        for (int n = 0; n < columns; n++) {
            int32_t sum = -p->depth * p->b_zero;
            for (int i = 0; i < steps; i++) {
                sum = vaddvaq_s8(sum, vldrbq_z_s8(to + 128 * i + line * n, whole));
            }
            *starts++ = -p->a_zero * sum;
        }
        to += 8 * line * steps;
    }
}

/* Eight sums of a row, of up to eight inputs in a vector, or of `x` up to `end`. */
TILEWRIGHT_MVE_INTO int32x4x2_t tilewright_product_sums(
    const int form, const int8_t *x, const int8_t *end, int8x16_t only, const int8_t **packed)
{
    const int8_t *w = *packed;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    if ((form & TILEWRIGHT_SHORT) != 0) {
        __asm__ volatile(
            TILEWRIGHT_SHORT_COLUMN("s0") TILEWRIGHT_SHORT_COLUMN("s1") TILEWRIGHT_SHORT_COLUMN("s2")
            TILEWRIGHT_SHORT_COLUMN("s3") TILEWRIGHT_SHORT_COLUMN("s4") TILEWRIGHT_SHORT_COLUMN("s5")
            TILEWRIGHT_SHORT_COLUMN("s6") TILEWRIGHT_SHORT_COLUMN("s7")
            : [s0] "=&Te"(s0), [s1] "=&Te"(s1), [s2] "=&Te"(s2), [s3] "=&Te"(s3), [s4] "=&Te"(s4), [s5] "=&Te"(s5),
              [s6] "=&Te"(s6), [s7] "=&Te"(s7), [w] "+r"(w)
            : [x] "t"(only)
            : "memory", "q1");
    } else {
        __asm__ volatile(
            "1:\n\tvldrb.8 q0, [%[x]], #16\n\t"
            TILEWRIGHT_MVE_COLUMN("s0") TILEWRIGHT_MVE_COLUMN("s1") TILEWRIGHT_MVE_COLUMN("s2")
            TILEWRIGHT_MVE_COLUMN("s3") TILEWRIGHT_MVE_COLUMN("s4") TILEWRIGHT_MVE_COLUMN("s5")
            TILEWRIGHT_MVE_COLUMN("s6") TILEWRIGHT_MVE_COLUMN("s7")
            "cmp %[x], %[end]\n\tbne 1b\n\t"
            : [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3), [s4] "+Te"(s4), [s5] "+Te"(s5),
              [s6] "+Te"(s6), [s7] "+Te"(s7), [x] "+r"(x), [w] "+r"(w)
            : [end] "r"(end)
            : "cc", "memory", "q0", "q1");
    }
    *packed = w;
    int32x4x2_t sums;
    sums.val[0] = tilewright_mve_four(s0, s1, s2, s3);
    sums.val[1] = tilewright_mve_four(s4, s5, s6, s7);
    return sums;
}

/* Codes by tilewright_product_exact, before their limits. */
TILEWRIGHT_MVE_INTO int32x4_t tilewright_product_exact_four(int32x4_t four, const int32_t *codes)
{
    int32_t sums[4];
    vst1q_s32(sums, four);
    for (int i = 0; i < 4; i++) {
        sums[i] = tilewright_product_exact(sums[i], codes);
    }
    return vld1q_s32(sums);
}

/* Every row times the packed columns; `copy` takes a row that vectors do not read where it lies. The codes of the results
 * are those of the scalar kernels, or, where they are exact, as for tilewright_product_exact. */
TILEWRIGHT_MVE_INTO void tilewright_product_all(
    const int form, const int8_t *a, const int8_t *packed, const int32_t *starts,
    int8_t *copy, int8_t *y, const int32_t *codes, const tilewright_product_vectors *p)
{
    const bool sums_alone = (form & TILEWRIGHT_SUMS) != 0, exact = (form & TILEWRIGHT_EXACT) != 0;
    const int steps = (p->depth + 15) / 16;
    const int32x4_t low = vdupq_n_s32(sums_alone ? 0 : codes[2]);
    const int32x4_t high = vdupq_n_s32(sums_alone ? 0 : codes[3]);
    const int32x4_t multiplier = vdupq_n_s32(sums_alone ? 0 : codes[4]);
    const int32_t addend = sums_alone ? 0 : codes[0], left = sums_alone ? 0 : -codes[1];
    for (int row = 0; row < p->rows; row++) {
        const int8_t *x = a + row * p->a_line;
        int8x16_t only = vdupq_n_s8(0);
        int32_t own = 0;
        if ((form & TILEWRIGHT_SHORT) != 0) {
            only = tilewright_product_inputs(x, p->a_step, p->depth, p->a_flip);
            own = vaddvq_s8(only);
        } else if (p->a_step != 1 || p->a_flip || p->depth % 16) {
            for (int i = 0; i < p->depth; i += 16) {
                vstrbq_s8(copy + i, tilewright_product_inputs(x + i * p->a_step, p->a_step, p->depth - i, p->a_flip));
            }
            x = copy;
        }
        for (int i = 0; (form & TILEWRIGHT_SHORT) == 0 && i < steps && p->b_zero; i++) {
            own = vaddvaq_s8(own, vldrbq_s8(x + 16 * i));
        }
        own *= -p->b_zero;
        const int8_t *w = packed;
        const int8_t *const end = x + 16 * steps;
        int8_t *to = y + row * p->y_line;
        for (int n = 0; n < p->columns; n += 8) {
            const int32x4x2_t sums = tilewright_product_sums(form, x, end, only, &w);
            int32x4_t first = vaddq_s32(vaddq_n_s32(sums.val[0], own), vldrwq_s32(starts + n));
            int32x4_t second = vaddq_s32(vaddq_n_s32(sums.val[1], own), vldrwq_s32(starts + n + 4));
            if (exact) {
                first = tilewright_product_exact_four(first, codes);
                second = tilewright_product_exact_four(second, codes);
            } else if (!sums_alone) {
                first = vshlq_r_s32(vaddq_n_s32(vmulhq_s32(first, multiplier), addend), left);
                second = vshlq_r_s32(vaddq_n_s32(vmulhq_s32(second, multiplier), addend), left);
            }
            if (!sums_alone) {
                first = vminq_s32(vmaxq_s32(first, low), high);
                second = vminq_s32(vmaxq_s32(second, low), high);
            }
            if (!sums_alone && p->y_step == 1 && n + 8 <= p->columns) {
                vstrbq_s32(to, first);
                vstrbq_s32(to + 4, second);
                to += 8;
                continue;
            }
            const uint32_t columns = (uint32_t)(p->columns - n);
            const mve_pred16_t near = vctp32q(columns);
            const mve_pred16_t far = vctp32q(columns > 4 ? columns - 4 : 0);
            const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)p->y_step);
            if (sums_alone) {
                vstrwq_scatter_offset_p_s32((int32_t *)(void *)to, places, first, near);
                vstrwq_scatter_offset_p_s32((int32_t *)(void *)(to + 4 * p->y_step), places, second, far);
            } else {
                vstrbq_scatter_offset_p_s32(to, places, first, near);
                vstrbq_scatter_offset_p_s32(to + 4 * p->y_step, places, second, far);
            }
            to += 8 * p->y_step;
        }
    }
}

#define TILEWRIGHT_PRODUCT_LINES(name, form) \
    TILEWRIGHT_MVE void tilewright_product_lines##name(const int8_t *a, const int8_t *packed, \
        const int32_t *starts, int8_t *copy, int8_t *y, const int32_t *codes, \
        const tilewright_product_vectors *p) \
    { \
        tilewright_product_all(form, a, packed, starts, copy, y, codes, p); \
    }
TILEWRIGHT_PRODUCT_LINES(, 0)
TILEWRIGHT_PRODUCT_LINES(_exact, TILEWRIGHT_EXACT)
TILEWRIGHT_PRODUCT_LINES(_sums, TILEWRIGHT_SUMS)
TILEWRIGHT_PRODUCT_LINES(_short, TILEWRIGHT_SHORT)
TILEWRIGHT_PRODUCT_LINES(_short_exact, TILEWRIGHT_SHORT | TILEWRIGHT_EXACT)
TILEWRIGHT_PRODUCT_LINES(_short_sums, TILEWRIGHT_SHORT | TILEWRIGHT_SUMS)

/* The same where a row of signed codes lies in one vector, and so do results: as many rows as there are for eight columns
 * at a time, none of them copied. Columns take `line` bytes. */
TILEWRIGHT_MVE void tilewright_product_rows(
    const int8_t *a, const int8_t *packed, const int32_t *starts, int8_t *y, const int32_t *codes,
    int line, const tilewright_product_vectors *p)
{
    const int32x4_t low = vdupq_n_s32(codes[2]);
    const int32x4_t high = vdupq_n_s32(codes[3]);
    const int32x4_t addend = vdupq_n_s32(codes[0]);
    const int32x4_t left = vdupq_n_s32(-codes[1]);
    const int32_t a_line = p->a_line;
    const int32_t y_line = p->y_line;
    const int32_t b_zero = -p->b_zero;
    const mve_pred16_t there = vctp8q((uint32_t)p->depth);
    for (int n = 0; n < p->columns; n += 8) {
        const uint32_t columns = (uint32_t)(p->columns - n);
        const mve_pred16_t ones = vctp32q(columns);
        const mve_pred16_t others = vctp32q(columns > 4u ? columns - 4u : 0u);
        const int8_t *const w = packed + line * n;
        const int8_t *x = a;
        int8_t *to = y + n;
        for (int row = p->rows; row > 0; row--) {
            const int8x16_t inputs = vldrbq_z_s8(x, there);
            const int32_t own = b_zero != 0 ? b_zero * vaddvq_s8(inputs) : 0;
            const int32x4_t first = tilewright_mve_four(
                vmladavq_s8(inputs, vldrbq_s8(w)), vmladavq_s8(inputs, vldrbq_s8(w + line)),
                vmladavq_s8(inputs, vldrbq_s8(w + 2 * line)), vmladavq_s8(inputs, vldrbq_s8(w + 3 * line)));
            const int32x4_t second = tilewright_mve_four(
                vmladavq_s8(inputs, vldrbq_s8(w + 4 * line)), vmladavq_s8(inputs, vldrbq_s8(w + 5 * line)),
                vmladavq_s8(inputs, vldrbq_s8(w + 6 * line)), vmladavq_s8(inputs, vldrbq_s8(w + 7 * line)));
            const int32x4_t multiplier = vdupq_n_s32(codes[4]);
            vstrbq_p_s32(to, tilewright_mve_codes(vaddq_n_s32(vaddq_s32(first, vldrwq_s32(starts + n)), own), multiplier,
                addend, left, low, high), ones);
            vstrbq_p_s32(to + 4, tilewright_mve_codes(vaddq_n_s32(vaddq_s32(second, vldrwq_s32(starts + n + 4)), own),
                multiplier, addend, left, low, high), others);
            x += a_line;
            to += y_line;
        }
    }
}
