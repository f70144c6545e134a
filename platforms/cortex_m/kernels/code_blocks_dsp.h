/* Sums of products of codes by dual multiplications: weights and what lanes read lie in pairs. */
#define TILEWRIGHT_CODE_ASIDE(o, lane) ((o) / 4 * 16 + (lane) * 4 + (o) % 2 * 2 + (o) / 2 % 2)
#define TILEWRIGHT_CODE_PIXEL(pixel, lane) ((pixel) / 2 * 8 + (lane) * 2 + (pixel) % 2)

/* The sums of four channels of a pixel. */
TILEWRIGHT_ONCE void tilewright_code_one(const int16_t *w, const int8_t *y, int channel, int results, int32_t *sums)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    int o = 0;
    for (; channel == 1 && o + 3 < results; o += 4, w += 16) {
        const uint32_t word = tilewright_load(y + o), even = tilewright_even(word), odd = tilewright_odd(word);
        s0 = tilewright_smlad(tilewright_load(w), even, s0), s0 = tilewright_smlad(tilewright_load(w + 2), odd, s0);
        s1 = tilewright_smlad(tilewright_load(w + 4), even, s1), s1 = tilewright_smlad(tilewright_load(w + 6), odd, s1);
        s2 = tilewright_smlad(tilewright_load(w + 8), even, s2), s2 = tilewright_smlad(tilewright_load(w + 10), odd, s2);
        s3 = tilewright_smlad(tilewright_load(w + 12), even, s3), s3 = tilewright_smlad(tilewright_load(w + 14), odd, s3);
    }
    for (int at = 0; o < results; o++, at++) {
        const int16_t *const v = w + TILEWRIGHT_CODE_ASIDE(at, 0);
        const int32_t y0 = y[o * channel];
        s0 += v[0] * y0, s1 += v[4] * y0, s2 += v[8] * y0, s3 += v[12] * y0;
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

/* The sums of four channels of two pixels, whose gradients lie `apart` codes from each other. */
static void tilewright_code_two(const int16_t *w, const int8_t *y, int apart, int channel, int results, int32_t *sums)
{
    tilewright_code_one(w, y, channel, results, sums);
    tilewright_code_one(w, y + apart, channel, results, sums + 4);
}

/* Two results, side by side, of two pixels, with four lanes of these: adds to [result][lane]. */
TILEWRIGHT_ONCE void tilewright_code_squares(const int16_t *x, const int8_t *y, int step, int pairs, int32_t *slopes)
{
    int32_t s0 = slopes[0], s1 = slopes[1], s2 = slopes[2], s3 = slopes[3], s4 = slopes[4], s5 = slopes[5], s6 = slopes[6], s7 = slopes[7];
    for (const int16_t *const end = x + 8 * pairs; x != end; x += 8, y += 2 * step) {
        uint16_t low, high;
        (void)memcpy(&low, y, sizeof low);
        (void)memcpy(&high, y + step, sizeof high);
        const uint32_t word = low | (uint32_t)high << 16, first = tilewright_even(word), second = tilewright_odd(word);
        uint32_t lane = tilewright_load(x);
        s0 = tilewright_smlad(lane, first, s0), s4 = tilewright_smlad(lane, second, s4);
        lane = tilewright_load(x + 2);
        s1 = tilewright_smlad(lane, first, s1), s5 = tilewright_smlad(lane, second, s5);
        lane = tilewright_load(x + 4);
        s2 = tilewright_smlad(lane, first, s2), s6 = tilewright_smlad(lane, second, s6);
        lane = tilewright_load(x + 6);
        s3 = tilewright_smlad(lane, first, s3), s7 = tilewright_smlad(lane, second, s7);
    }
    slopes[0] = s0, slopes[1] = s1, slopes[2] = s2, slopes[3] = s3, slopes[4] = s4, slopes[5] = s5, slopes[6] = s6, slopes[7] = s7;
}

/* Adds to slopes[result][lane] what `count` pixels of four lanes make with the gradient of every result. */
static void tilewright_code_rows(const int16_t *gathered, const int8_t *y, int step, int channel, int count, int results, int32_t *slopes)
{
    const int beside = channel == 1;
    for (int o = 0; o < results; o++, slopes += 4, y += channel) {
        int from = 0;
        if (beside && o + 1 < results && o % 2 == 0) {
            tilewright_code_squares(gathered, y, step, count / 2, slopes);
        }
        from = beside && (o + 1 < results || o % 2 == 1) ? count / 2 * 2 : 0;
        for (int at = from; at < count; at++) {
            const int32_t y0 = y[at * step];
            for (int lane = 0; lane < 4; lane++) {
                slopes[lane] += gathered[TILEWRIGHT_CODE_PIXEL(at, lane)] * y0;
            }
        }
    }
}
