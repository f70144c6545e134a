/* Convolutions whose weights lie in RAM as the file has them: four pixels are gathered side by side, [input][pixel], and
 * meet four rows of weights at a time. */
typedef struct {
    int direct, beside, rectified; /* direct: four neighbouring pixels lie side by side, and are all that a result
                                    * reads; beside: so do their results */
    int at_once; /* channels that are gathered together */
    float low, high;
    const float *x, *w, *b; /* b: NULL where there is none */
    float *y, *gathered;
} tilewright_gathering;

/* The same for few channels: pixel by pixel, so that a row of the window is a run. */
static void tilewright_gather_windows(const tilewright_product *p, const float *x, const int *top, const int *left, float *put)
{
    for (int at = 0; at < 4 * p->channels; at++) {
        const int j = at % 4;
        const float *const plane = x + at / 4 * p->x.channel;
        float *to = put + at / 4 * p->kernel[0] * p->kernel[1] * 4 + j;
        for (int kh = 0; kh < p->kernel[0]; kh++) {
            const int row = top[j] + kh * p->dilation[0], inside = row >= 0 && row < p->size[0];
            const float *const from = plane + (inside ? row : 0) * p->x.row;
            int column = left[j];
            for (int kw = 0; kw < p->kernel[1]; kw++, column += p->dilation[1], to += 4) {
                *to = inside && column >= 0 && column < p->size[1] ? from[column * p->x.column] : 0.0f;
            }
        }
    }
}

/* What `count` pixels from `pixel` on read of a group of an image; zeros where they are fewer than four. */
static void tilewright_gather(const tilewright_product *p, const float *x, int pixel, int count, float *put)
{
    static const float zero = 0.0f;
    const int taps = p->kernel[0] * p->kernel[1];
    int top[4], left[4];
    for (int j = 0; j < 4; j++) {
        top[j] = j < count ? (pixel + j) / p->outs[1] * p->stride[0] - p->begin[0] : -p->size[0] - taps * p->dilation[0];
        left[j] = (pixel + j) % p->outs[1] * p->stride[1] - p->begin[1];
    }
    if (p->channels < 4) {
        tilewright_gather_windows(p, x, top, left, put);
        return;
    }
    for (int tap = 0; tap < taps; tap++) {
        const int down = tap / p->kernel[1] * p->dilation[0], right = tap % p->kernel[1] * p->dilation[1];
        const float *lines[4];
        int steps[4];
        for (int j = 0; j < 4; j++) {
            const int row = top[j] + down, column = left[j] + right;
            const int inside = row >= 0 && row < p->size[0] && column >= 0 && column < p->size[1];
            lines[j] = inside ? x + row * p->x.row + column * p->x.column : &zero;
            steps[j] = inside ? p->x.channel : 0;
        }
        const int run = steps[0] && steps[1] && steps[2] && steps[3] && lines[1] - lines[0] == 1 && lines[2] - lines[0] == 2;
        if (run && lines[3] - lines[0] == 3) {
            tilewright_block_copy(lines[0], steps[0], p->channels, put + 4 * tap, 4 * taps);
        } else {
            tilewright_interleave(lines, steps, p->channels, put + 4 * tap, 4 * taps);
        }
    }
}

/* Stores four results of `count` pixels, where each begins; the last sums take the limits. */
static void tilewright_gathered_store(const tilewright_gathering *g, float *y, const int *places, int channel, int count,
                                      int results, int last, const float *sums)
{
    if (last && g->rectified && g->beside && count == 4) {
        for (int o = 0; o < results; o++, y += channel, sums += 4) {
            float *const to = y + places[0];
            to[0] = TILEWRIGHT_RECTIFIED(sums[0]), to[1] = TILEWRIGHT_RECTIFIED(sums[1]);
            to[2] = TILEWRIGHT_RECTIFIED(sums[2]), to[3] = TILEWRIGHT_RECTIFIED(sums[3]);
        }
        return;
    }
    for (int o = 0; o < results; o++, y += channel) {
        for (int j = 0; j < count; j++) {
            const float v = sums[4 * o + j];
            if (!last) {
                y[places[j]] = v;
            } else if (g->rectified) {
                y[places[j]] = TILEWRIGHT_RECTIFIED(v);
            } else {
                y[places[j]] = v < g->low ? g->low : v > g->high ? g->high : v;
            }
        }
    }
}

/* Four by four results: from the bias, or from what earlier channels have left of them. */
static void tilewright_gathered_starts(const tilewright_gathering *g, const float *y, const int *places, int channel,
                                       int first, int results, int begun, float *sums)
{
    for (int at = 0; at < 4; at++, sums += 4) {
        const int o = at < results ? at : results - 1;
        if (begun) {
            const float *const from = y + o * channel;
            sums[0] = from[places[0]], sums[1] = from[places[1]], sums[2] = from[places[2]], sums[3] = from[places[3]];
        } else {
            const float start = g->b != NULL ? g->b[first + o] : 0.0f;
            sums[0] = start, sums[1] = start, sums[2] = start, sums[3] = start;
        }
    }
}

static void tilewright_convolve(const tilewright_gathering *g, const tilewright_product *whole)
{
    const int taps = whole->kernel[0] * whole->kernel[1], pixels = whole->outs[0] * whole->outs[1];
    tilewright_product part = *whole;
    for (int at = 0; at < whole->images * whole->groups; at++) {
        const int image = at / whole->groups, group = at % whole->groups, first = group * whole->results;
        float *const y = g->y + image * whole->y.image + first * whole->y.channel;
        for (int pixel = 0; pixel < pixels; pixel += 4) {
            const int count = pixels - pixel < 4 ? pixels - pixel : 4, beside = g->direct && count == 4;
            int places[4];
            for (int j = 0; j < 4; j++) {
                const int one = j < count ? pixel + j : pixel;
                places[j] = one / whole->outs[1] * whole->y.row + one % whole->outs[1] * whole->y.column;
            }
            for (int channel = 0; channel < whole->channels; channel += part.channels) {
                const int left = whole->channels - channel;
                part.channels = left < g->at_once ? left : g->at_once;
                const float *const x =
                    g->x + image * whole->x.image + (group * whole->channels + channel) * whole->x.channel;
                if (!beside) {
                    tilewright_gather(&part, x, pixel, count, g->gathered);
                }
                for (int o = 0; o < whole->results; o += 4) {
                    const int results = whole->results - o < 4 ? whole->results - o : 4;
                    float *const to = y + o * whole->y.channel;
                    const float *rows[4];
                    float sums[16];
                    for (int j = 0; j < 4; j++) {
                        const int result = first + o + (j < results ? j : results - 1);
                        rows[j] = g->w + (result * whole->channels + channel) * taps;
                    }
                    tilewright_gathered_starts(g, to, places, whole->y.channel, first + o, results, channel > 0, sums);
                    tilewright_block_rows(rows, beside ? x + pixel : g->gathered, beside ? whole->x.channel : 4,
                                          part.channels * taps, sums);
                    tilewright_gathered_store(g, to, places, whole->y.channel, count, results,
                                              channel + part.channels == whole->channels, sums);
                }
            }
        }
    }
}
