/* Float sums of one row by sixteen, eight or four columns. It brings tilewright_float_row16, tilewright_float_row8 and
 * tilewright_float_row4. */
#define TILEWRIGHT_COLUMN(o) s##o = TILEWRIGHT_MULTIPLY_ADD(v, w[at + o], s##o);
#define TILEWRIGHT_COLUMNS4(a, b, c, d) TILEWRIGHT_COLUMN(a) TILEWRIGHT_COLUMN(b) TILEWRIGHT_COLUMN(c) TILEWRIGHT_COLUMN(d)
#define TILEWRIGHT_COLUMN_STEP4(i) \
    { \
        enum { at = 4 * i }; \
        const float v = x[i]; \
        TILEWRIGHT_COLUMNS4(0, 1, 2, 3) \
    }
#define TILEWRIGHT_COLUMN_STEP8(i) \
    { \
        enum { at = 8 * i }; \
        const float v = x[i]; \
        TILEWRIGHT_COLUMNS4(0, 1, 2, 3) TILEWRIGHT_COLUMNS4(4, 5, 6, 7) \
    }
#define TILEWRIGHT_COLUMN_STEP16(i) \
    { \
        enum { at = 16 * i }; \
        const float v = x[i]; \
        TILEWRIGHT_COLUMNS4(0, 1, 2, 3) TILEWRIGHT_COLUMNS4(4, 5, 6, 7) \
        TILEWRIGHT_COLUMNS4(8, 9, 10, 11) TILEWRIGHT_COLUMNS4(12, 13, 14, 15) \
    }
#define TILEWRIGHT_COLUMN_LOOPS(step, width) \
    const float *const whole = x + inputs / 4 * 4; \
    const float *const end = x + inputs; \
    w += width; \
    while (x != whole) { \
        step(0) step(1) step(2) step(3) \
        x += 4; \
        w += 4 * width; \
        TILEWRIGHT_FORGET(w); \
    } \
    while (x != end) { \
        step(0) \
        x++; \
        w += width; \
        TILEWRIGHT_FORGET(w); \
    }

/* Into sums[column]; weights lie [input][column] after as many starts. Returns what follows the weights. */
TILEWRIGHT_FLOAT const float *tilewright_float_row16(const float *x, const float *w, int inputs, float *sums)
{
    float s0 = w[0], s1 = w[1], s2 = w[2], s3 = w[3], s4 = w[4], s5 = w[5], s6 = w[6], s7 = w[7];
    float s8 = w[8], s9 = w[9], s10 = w[10], s11 = w[11], s12 = w[12], s13 = w[13], s14 = w[14], s15 = w[15];
    TILEWRIGHT_COLUMN_LOOPS(TILEWRIGHT_COLUMN_STEP16, 16)
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3, sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
    sums[8] = s8, sums[9] = s9, sums[10] = s10, sums[11] = s11;
    sums[12] = s12, sums[13] = s13, sums[14] = s14, sums[15] = s15;
    return w;
}

/* The same for eight columns. */
TILEWRIGHT_FLOAT const float *tilewright_float_row8(const float *x, const float *w, int inputs, float *sums)
{
    float s0 = w[0], s1 = w[1], s2 = w[2], s3 = w[3], s4 = w[4], s5 = w[5], s6 = w[6], s7 = w[7];
    TILEWRIGHT_COLUMN_LOOPS(TILEWRIGHT_COLUMN_STEP8, 8)
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3, sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
    return w;
}

/* The same for four columns. */
TILEWRIGHT_FLOAT const float *tilewright_float_row4(const float *x, const float *w, int inputs, float *sums)
{
    float s0 = w[0], s1 = w[1], s2 = w[2], s3 = w[3];
    TILEWRIGHT_COLUMN_LOOPS(TILEWRIGHT_COLUMN_STEP4, 4)
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
    return w;
}
