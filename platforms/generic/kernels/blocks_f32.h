/* Four by four sums of float products over operands of the run time, added to what they hold. It brings tilewright_tap,
 * tilewright_block_rows, tilewright_block_dots, tilewright_block_taps, and what goes with them. */
typedef struct {
    const float *w, *source; /* weights [plane][4], and four neighbouring elements of the first plane */
} tilewright_tap;

#define TILEWRIGHT_BLOCK_SUMS(s)                                              \
    float a00 = s[0], a01 = s[1], a02 = s[2], a03 = s[3], a10 = s[4], a11 = s[5], a12 = s[6], a13 = s[7]; \
    float a20 = s[8], a21 = s[9], a22 = s[10], a23 = s[11], a30 = s[12], a31 = s[13], a32 = s[14], a33 = s[15];
#define TILEWRIGHT_BLOCK_STORED(s)                                            \
    s[0] = a00, s[1] = a01, s[2] = a02, s[3] = a03, s[4] = a10, s[5] = a11, s[6] = a12, s[7] = a13; \
    s[8] = a20, s[9] = a21, s[10] = a22, s[11] = a23, s[12] = a30, s[13] = a31, s[14] = a32, s[15] = a33;
#define TILEWRIGHT_BLOCK_ROW(o)                                               \
    a##o##0 = TILEWRIGHT_MULTIPLY_ADD(y##o, x0, a##o##0);                     \
    a##o##1 = TILEWRIGHT_MULTIPLY_ADD(y##o, x1, a##o##1);                     \
    a##o##2 = TILEWRIGHT_MULTIPLY_ADD(y##o, x2, a##o##2);                     \
    a##o##3 = TILEWRIGHT_MULTIPLY_ADD(y##o, x3, a##o##3);
#define TILEWRIGHT_BLOCK_STEP                                                 \
    TILEWRIGHT_BLOCK_ROW(0) TILEWRIGHT_BLOCK_ROW(1) TILEWRIGHT_BLOCK_ROW(2) TILEWRIGHT_BLOCK_ROW(3)

/* Rows of neighbouring inputs times four neighbouring elements of each input: sums[4 * row + element]. */
TILEWRIGHT_FLOAT void tilewright_block_rows(const float *const *rows, const float *b, int step, int inputs, float *sums)
{
    const float *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3];
    TILEWRIGHT_BLOCK_SUMS(sums)
    for (int i = 0; i < inputs; i++) {
        const float y0 = *r0++, y1 = *r1++, y2 = *r2++, y3 = *r3++;
        const float x0 = b[0], x1 = b[1], x2 = b[2], x3 = b[3];
        b += step;
        TILEWRIGHT_BLOCK_STEP
    }
    TILEWRIGHT_BLOCK_STORED(sums)
}

/* Four lines times four lines of neighbouring inputs: sums[4 * line of y + line of x]. */
TILEWRIGHT_FLOAT void tilewright_block_dots(const float *const *y, const float *const *x, int inputs, float *sums)
{
    const float *q0 = y[0], *q1 = y[1], *q2 = y[2], *q3 = y[3], *p0 = x[0], *p1 = x[1], *p2 = x[2], *p3 = x[3];
    TILEWRIGHT_BLOCK_SUMS(sums)
    for (int i = 0; i < inputs; i++) {
        const float x0 = *p0++, x1 = *p1++, x2 = *p2++, x3 = *p3++;
        const float y0 = *q0++, y1 = *q1++, y2 = *q2++, y3 = *q3++;
        TILEWRIGHT_BLOCK_STEP
    }
    TILEWRIGHT_BLOCK_STORED(sums)
}

/* Of every tap the planes, each four neighbouring elements by four weights: sums[4 * weight + element]. */
TILEWRIGHT_FLOAT void tilewright_block_taps(const tilewright_tap *taps, int count, int planes, int step, float *sums)
{
    TILEWRIGHT_BLOCK_SUMS(sums)
    for (int tap = 0; tap < count; tap++) {
        const float *w = taps[tap].w, *source = taps[tap].source;
        for (int i = 0; i < planes; i++) {
            const float y0 = w[0], y1 = w[1], y2 = w[2], y3 = w[3];
            const float x0 = source[0], x1 = source[1], x2 = source[2], x3 = source[3];
            w += 4;
            source += step;
            TILEWRIGHT_BLOCK_STEP
        }
    }
    TILEWRIGHT_BLOCK_STORED(sums)
}

/* Four neighbouring elements of every plane, `step` elements from one to the next, put `apart` elements from each other. */
TILEWRIGHT_FLOAT void tilewright_block_copy(const float *from, int step, int count, float *put, int apart)
{
    for (int i = 0; i < count; i++, from += step, put += apart) {
        const float v0 = from[0], v1 = from[1], v2 = from[2], v3 = from[3];
        put[0] = v0, put[1] = v1, put[2] = v2, put[3] = v3;
    }
}

/* Four lines of `count` elements side by side, [element][line]; a line whose step is 0 repeats its first element. */
TILEWRIGHT_FLOAT void tilewright_interleave(const float *const *lines, const int *steps, int count, float *put, int apart)
{
    const float *l0 = lines[0], *l1 = lines[1], *l2 = lines[2], *l3 = lines[3];
    const int s0 = steps[0], s1 = steps[1], s2 = steps[2], s3 = steps[3];
    for (int i = 0; i < count; i++) {
        const float v0 = *l0, v1 = *l1, v2 = *l2, v3 = *l3;
        l0 += s0, l1 += s1, l2 += s2, l3 += s3;
        put[0] = v0, put[1] = v1, put[2] = v2, put[3] = v3;
        put += apart;
    }
}

/* Four lines of neighbouring elements side by side, [element][line]. */
TILEWRIGHT_FLOAT void tilewright_block_interleave(const float *const *lines, int count, float *put)
{
    const float *l0 = lines[0], *l1 = lines[1], *l2 = lines[2], *l3 = lines[3];
    for (int i = 0; i < count; i++, put += 4) {
        const float v0 = *l0++, v1 = *l1++, v2 = *l2++, v3 = *l3++;
        put[0] = v0, put[1] = v1, put[2] = v2, put[3] = v3;
    }
}

/* One row of inputs times neighbouring columns of weights: y[column] += x[input] * w[input][column]. */
TILEWRIGHT_FLOAT void tilewright_block_vector(const float *x, const float *w, int inputs, int columns, float *y)
{
    for (int i = 0; i < inputs; i++) {
        const float value = x[i];
        for (int o = 0; o < columns; o++) {
            y[o] = TILEWRIGHT_MULTIPLY_ADD(value, *w++, y[o]);
        }
    }
}

/* Weights side by side move by `step` times their results' gradient; what the old ones give to the input's gradient. */
TILEWRIGHT_FLOAT float tilewright_block_moved(const float *w, const float *dy, float step, int count, float *next)
{
    float sum = 0;
    for (int o = 0; o < count; o++) {
        const float weight = w[o], slope = dy[o];
        sum = TILEWRIGHT_MULTIPLY_ADD(weight, slope, sum);
        next[o] = TILEWRIGHT_MULTIPLY_ADD(step, slope, weight);
    }
    return sum;
}
