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
#define TILEWRIGHT_PIXEL_PUT(p) \
    sums[4 * p] = s##p##0; \
    sums[4 * p + 1] = s##p##1; \
    sums[4 * p + 2] = s##p##2; \
    sums[4 * p + 3] = s##p##3;
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

/* Into sums[pixel][channel]: every pixel has `taps` runs of `run` inputs, which start at sources[tap][pixel]; weights lie
 * [tap][input][channel] after four starts. Returns what follows the weights. */
TILEWRIGHT_FLOAT const float *tilewright_float_block6(const float *const *sources, int taps, int run, const float *w, float *sums)
{
    TILEWRIGHT_PIXEL_START(0) TILEWRIGHT_PIXEL_START(1) TILEWRIGHT_PIXEL_START(2)
    TILEWRIGHT_PIXEL_START(3) TILEWRIGHT_PIXEL_START(4) TILEWRIGHT_PIXEL_START(5)
    const float *const *const last = sources + 6 * taps;
    w += 4;
    do {
        const float *x0 = sources[0], *x1 = sources[1], *x2 = sources[2];
        const float *x3 = sources[3], *x4 = sources[4], *x5 = sources[5];
        const float *const whole = x0 + run / 4 * 4;
        const float *const end = x0 + run;
        while (x0 != whole) {
            TILEWRIGHT_STEP6(0) TILEWRIGHT_STEP6(1) TILEWRIGHT_STEP6(2) TILEWRIGHT_STEP6(3)
            x0 += 4, x1 += 4, x2 += 4, x3 += 4, x4 += 4, x5 += 4;
            w += 16;
            TILEWRIGHT_HIDE(w);
        }
        while (x0 != end) {
            TILEWRIGHT_STEP6(0)
            x0++, x1++, x2++, x3++, x4++, x5++;
            w += 4;
            TILEWRIGHT_HIDE(w);
        }
        sources += 6;
    } while (sources != last);
    TILEWRIGHT_PIXEL_PUT(0) TILEWRIGHT_PIXEL_PUT(1) TILEWRIGHT_PIXEL_PUT(2)
    TILEWRIGHT_PIXEL_PUT(3) TILEWRIGHT_PIXEL_PUT(4) TILEWRIGHT_PIXEL_PUT(5)
    return w;
}

/* The same for three pixels. */
TILEWRIGHT_FLOAT const float *tilewright_float_block3(const float *const *sources, int taps, int run, const float *w, float *sums)
{
    TILEWRIGHT_PIXEL_START(0) TILEWRIGHT_PIXEL_START(1) TILEWRIGHT_PIXEL_START(2)
    const float *const *const last = sources + 3 * taps;
    w += 4;
    do {
        const float *x0 = sources[0], *x1 = sources[1], *x2 = sources[2];
        const float *const whole = x0 + run / 4 * 4;
        const float *const end = x0 + run;
        while (x0 != whole) {
            TILEWRIGHT_STEP3(0) TILEWRIGHT_STEP3(1) TILEWRIGHT_STEP3(2) TILEWRIGHT_STEP3(3)
            x0 += 4, x1 += 4, x2 += 4;
            w += 16;
            TILEWRIGHT_HIDE(w);
        }
        while (x0 != end) {
            TILEWRIGHT_STEP3(0)
            x0++, x1++, x2++;
            w += 4;
            TILEWRIGHT_HIDE(w);
        }
        sources += 3;
    } while (sources != last);
    TILEWRIGHT_PIXEL_PUT(0) TILEWRIGHT_PIXEL_PUT(1) TILEWRIGHT_PIXEL_PUT(2)
    return w;
}
