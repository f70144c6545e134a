/* Sums of products of codes, one or two pixels and four channels at a time. */
#define TILEWRIGHT_CODE_ASIDE(o, lane) ((o) * 4 + (lane))         /* where the weight of a result and a channel lies */
#define TILEWRIGHT_CODE_PIXEL(pixel, lane) ((pixel) * 4 + (lane)) /* where what a lane reads for a pixel lies */

/* The sums of four channels of two pixels, whose gradients lie `apart` codes from each other. */
static void tilewright_code_two(const int16_t *w, const int8_t *y, int apart, int channel, int results, int32_t *sums)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3], s4 = sums[4], s5 = sums[5], s6 = sums[6], s7 = sums[7];
    for (int o = 0; o < results; o++, w += 4, y += channel) {
        const int32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], y0 = y[0], y1 = y[apart];
        s0 += w0 * y0, s1 += w1 * y0, s2 += w2 * y0, s3 += w3 * y0;
        s4 += w0 * y1, s5 += w1 * y1, s6 += w2 * y1, s7 += w3 * y1;
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3, sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
}

static void tilewright_code_one(const int16_t *w, const int8_t *y, int channel, int results, int32_t *sums)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (int o = 0; o < results; o++, w += 4, y += channel) {
        const int32_t y0 = *y;
        s0 += w[0] * y0, s1 += w[1] * y0, s2 += w[2] * y0, s3 += w[3] * y0;
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

/* Adds to slopes[result][lane] what `count` pixels of four lanes make with the gradient of every result. */
static void tilewright_code_rows(const int16_t *gathered, const int8_t *y, int step, int channel, int count, int results, int32_t *slopes)
{
    for (int o = 0; o < results; o += 2, slopes += 8, y += 2 * channel) {
        const int16_t *x = gathered;
        const int8_t *a = y, *b = y + (o + 1 < results ? channel : 0);
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
        for (int at = 0; at < count; at++, x += 4, a += step, b += step) {
            const int32_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], y0 = *a, y1 = *b;
            s0 += x0 * y0, s1 += x1 * y0, s2 += x2 * y0, s3 += x3 * y0;
            s4 += x0 * y1, s5 += x1 * y1, s6 += x2 * y1, s7 += x3 * y1;
        }
        slopes[0] += s0, slopes[1] += s1, slopes[2] += s2, slopes[3] += s3;
        if (o + 1 < results) {
            slopes[4] += s4, slopes[5] += s5, slopes[6] += s6, slopes[7] += s7;
        }
    }
}
