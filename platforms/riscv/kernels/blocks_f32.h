/* Float sums of six or three pixels by four channels, twenty-four of them in registers beside four weights. It brings
 * tilewright_float_block6 and tilewright_float_block3. */
#define TILEWRIGHT_PIXEL_START(p) float s##p##0 = w[0], s##p##1 = w[1], s##p##2 = w[2], s##p##3 = w[3];
#define TILEWRIGHT_PIXEL_STEP(p, at) \
    { \
        const float v = x##p[at]; \
        s##p##0 = TILEWRIGHT_MULTIPLY_ADD(v, w0, s##p##0); \
        s##p##1 = TILEWRIGHT_MULTIPLY_ADD(v, w1, s##p##1); \
        s##p##2 = TILEWRIGHT_MULTIPLY_ADD(v, w2, s##p##2); \
        s##p##3 = TILEWRIGHT_MULTIPLY_ADD(v, w3, s##p##3); \
    }
#define TILEWRIGHT_PIXEL_LOW(p) \
    s##p##0 = s##p##0 < low ? low : s##p##0; \
    s##p##1 = s##p##1 < low ? low : s##p##1; \
    s##p##2 = s##p##2 < low ? low : s##p##2; \
    s##p##3 = s##p##3 < low ? low : s##p##3;
#define TILEWRIGHT_PIXEL_HIGH(p) \
    s##p##0 = s##p##0 > high ? high : s##p##0; \
    s##p##1 = s##p##1 > high ? high : s##p##1; \
    s##p##2 = s##p##2 > high ? high : s##p##2; \
    s##p##3 = s##p##3 > high ? high : s##p##3;
#define TILEWRIGHT_PIXEL_PUT(p) \
    to[0] = s##p##0; \
    to[1] = s##p##1; \
    to[2] = s##p##2; \
    to[3] = s##p##3; \
    to += stride;
#define TILEWRIGHT_CHANNELS(at) const float w0 = w[4 * at], w1 = w[4 * at + 1], w2 = w[4 * at + 2], w3 = w[4 * at + 3];
#define TILEWRIGHT_STEP6(at) \
    { \
        TILEWRIGHT_CHANNELS(at) \
        TILEWRIGHT_PIXEL_STEP(0, at) TILEWRIGHT_PIXEL_STEP(1, at) TILEWRIGHT_PIXEL_STEP(2, at) \
        TILEWRIGHT_PIXEL_STEP(3, at) TILEWRIGHT_PIXEL_STEP(4, at) TILEWRIGHT_PIXEL_STEP(5, at) \
    }
#define TILEWRIGHT_STEP3(at) \
    { \
        TILEWRIGHT_CHANNELS(at) \
        TILEWRIGHT_PIXEL_STEP(0, at) TILEWRIGHT_PIXEL_STEP(1, at) TILEWRIGHT_PIXEL_STEP(2, at) \
    }

/* Writes `blocks` times four channels of every pixel, pixels `stride` apart. A pixel has `taps` runs of `run` inputs, which
 * start at sources[tap][pixel]; weights lie [block][tap][input][channel], four starts before each block. `low` and
 * `high` are the ends of the fused activation's range. Returns what follows the weights. */
TILEWRIGHT_FLOAT const float *tilewright_float_block6(const float *const *sources, int taps, int run, const float *w, int blocks, float low, float high, float *y, int stride)
{
    const float *const *const last = sources + 6 * taps;
    float *const end_of_blocks = y + 4 * blocks;
    do {
        TILEWRIGHT_PIXEL_START(0) TILEWRIGHT_PIXEL_START(1) TILEWRIGHT_PIXEL_START(2)
        TILEWRIGHT_PIXEL_START(3) TILEWRIGHT_PIXEL_START(4) TILEWRIGHT_PIXEL_START(5)
        const float *const *from = sources;
        w += 4;
        do {
            const float *x0 = from[0], *x1 = from[1], *x2 = from[2];
            const float *x3 = from[3], *x4 = from[4], *x5 = from[5];
            const float *const whole = x0 + run / 4 * 4;
            const float *const end = x0 + run;
            while (x0 != whole) {
                TILEWRIGHT_STEP6(0) TILEWRIGHT_STEP6(1) TILEWRIGHT_STEP6(2) TILEWRIGHT_STEP6(3)
                x0 += 4, x1 += 4, x2 += 4, x3 += 4, x4 += 4, x5 += 4;
                w += 16;
                TILEWRIGHT_FORGET(w);
            }
            while (x0 != end) {
                TILEWRIGHT_STEP6(0)
                x0++, x1++, x2++, x3++, x4++, x5++;
                w += 4;
                TILEWRIGHT_FORGET(w);
            }
            from += 6;
        } while (from != last);
        if (low > -HUGE_VALF) {
            TILEWRIGHT_PIXEL_LOW(0) TILEWRIGHT_PIXEL_LOW(1) TILEWRIGHT_PIXEL_LOW(2)
            TILEWRIGHT_PIXEL_LOW(3) TILEWRIGHT_PIXEL_LOW(4) TILEWRIGHT_PIXEL_LOW(5)
        }
        if (high < HUGE_VALF) {
            TILEWRIGHT_PIXEL_HIGH(0) TILEWRIGHT_PIXEL_HIGH(1) TILEWRIGHT_PIXEL_HIGH(2)
            TILEWRIGHT_PIXEL_HIGH(3) TILEWRIGHT_PIXEL_HIGH(4) TILEWRIGHT_PIXEL_HIGH(5)
        }
        float *to = y;
        TILEWRIGHT_PIXEL_PUT(0) TILEWRIGHT_PIXEL_PUT(1) TILEWRIGHT_PIXEL_PUT(2)
        TILEWRIGHT_PIXEL_PUT(3) TILEWRIGHT_PIXEL_PUT(4) TILEWRIGHT_PIXEL_PUT(5)
        y += 4;
    } while (y != end_of_blocks);
    return w;
}

/* The same for three pixels. */
TILEWRIGHT_FLOAT const float *tilewright_float_block3(const float *const *sources, int taps, int run, const float *w, int blocks, float low, float high, float *y, int stride)
{
    const float *const *const last = sources + 3 * taps;
    float *const end_of_blocks = y + 4 * blocks;
    do {
        TILEWRIGHT_PIXEL_START(0) TILEWRIGHT_PIXEL_START(1) TILEWRIGHT_PIXEL_START(2)
        const float *const *from = sources;
        w += 4;
        do {
            const float *x0 = from[0], *x1 = from[1], *x2 = from[2];
            const float *const whole = x0 + run / 4 * 4;
            const float *const end = x0 + run;
            while (x0 != whole) {
                TILEWRIGHT_STEP3(0) TILEWRIGHT_STEP3(1) TILEWRIGHT_STEP3(2) TILEWRIGHT_STEP3(3)
                x0 += 4, x1 += 4, x2 += 4;
                w += 16;
                TILEWRIGHT_FORGET(w);
            }
            while (x0 != end) {
                TILEWRIGHT_STEP3(0)
                x0++, x1++, x2++;
                w += 4;
                TILEWRIGHT_FORGET(w);
            }
            from += 3;
        } while (from != last);
        if (low > -HUGE_VALF) {
            TILEWRIGHT_PIXEL_LOW(0) TILEWRIGHT_PIXEL_LOW(1) TILEWRIGHT_PIXEL_LOW(2)
        }
        if (high < HUGE_VALF) {
            TILEWRIGHT_PIXEL_HIGH(0) TILEWRIGHT_PIXEL_HIGH(1) TILEWRIGHT_PIXEL_HIGH(2)
        }
        float *to = y;
        TILEWRIGHT_PIXEL_PUT(0) TILEWRIGHT_PIXEL_PUT(1) TILEWRIGHT_PIXEL_PUT(2)
        y += 4;
    } while (y != end_of_blocks);
    return w;
}
