/* Convolutions whose weights lie in RAM as the file has them: four pixels are gathered side by side, [input][pixel], and
 * meet four rows of weights at a time. */
typedef struct {
    int direct, beside, rectified, open; /* direct: four neighbouring pixels lie side by side, and are all that a result
                                          * reads; beside: so do their results; open: these have no limits */
    int at_once; /* channels that are gathered together */
    float low, high;
    const float *x, *w, *b; /* b: NULL where there is none */
    float *y, *gathered;
} tilewright_gathering;
typedef struct {
    const float *x, *w, *b; /* what four pixels read of some channels, the weights and the bias of the first result */
    float *y;
    int x_step, inputs, w_step, y_step, results, count;
    int beside, begun, last; /* four pixels side by side; channels before, and none behind these */
    int places[4];           /* of the pixels */
} tilewright_gathered;

/* What four pixels of few channels read, pixel by pixel, so that a row of the window is a run. */
TILEWRIGHT_FLOAT void tilewright_gather_windows(const tilewright_product *p, const float *x, const int *top, const int *left, float *put)
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
TILEWRIGHT_FLOAT void tilewright_gather_taps(const tilewright_product *p, const float *x, int pixel, int count, float *put)
{
    static const float zero = 0.0f;
    const int taps = p->kernel[0] * p->kernel[1], columns = p->size[1];
    int top[4], left[4];
    for (int j = 0; j < 4; j++) {
        top[j] = j < count ? (pixel + j) / p->outs[1] * p->stride[0] - p->begin[0] : -p->size[0] - taps * p->dilation[0];
        left[j] = (pixel + j) % p->outs[1] * p->stride[1] - p->begin[1];
    }
    const int beside = top[3] == top[0] && p->stride[1] * p->x.column == 1;
    if (p->channels < 4 && !beside) {
        tilewright_gather_windows(p, x, top, left, put);
        return;
    }
    for (int kh = 0; kh < p->kernel[0]; kh++) {
        for (int kw = 0; kw < p->kernel[1]; kw++, put += 4) {
            const int down = kh * p->dilation[0], right = kw * p->dilation[1], row = top[0] + down, column = left[0] + right;
            if (beside && row >= 0 && row < p->size[0] && column >= 0 && left[3] + right < columns) {
                tilewright_block_copy(x + row * p->x.row + column, p->x.channel, p->channels, put, 4 * taps);
                continue;
            }
            const float *lines[4];
            int steps[4];
            for (int j = 0; j < 4; j++) {
                const int y = top[j] + down, at = left[j] + right;
                const int inside = y >= 0 && y < p->size[0] && at >= 0 && at < columns;
                lines[j] = inside ? x + y * p->x.row + at * p->x.column : &zero;
                steps[j] = inside ? p->x.channel : 0;
            }
            tilewright_interleave(lines, steps, p->channels, put, 4 * taps);
        }
    }
}

/* Stores four results of `count` pixels; the last sums take the limits. */
TILEWRIGHT_FLOAT void tilewright_gathered_store(const tilewright_gathering *g, const tilewright_gathered *part, float *y,
                                                int results, const float *sums)
{
    const int channel = part->y_step;
    if (part->beside && (!part->last || g->open)) {
        tilewright_block_copy(sums, 4, results, y + part->places[0], channel);
        return;
    }
    if (part->beside && g->rectified) {
        for (y += part->places[0]; results; results--, y += channel, sums += 4) {
            y[0] = TILEWRIGHT_RECTIFIED(sums[0]), y[1] = TILEWRIGHT_RECTIFIED(sums[1]);
            y[2] = TILEWRIGHT_RECTIFIED(sums[2]), y[3] = TILEWRIGHT_RECTIFIED(sums[3]);
        }
        return;
    }
    for (int o = 0; o < results; o++, y += channel) {
        for (int j = 0; j < part->count; j++) {
            const float v = sums[4 * o + j];
            if (!part->last) {
                y[part->places[j]] = v;
            } else if (g->rectified) {
                y[part->places[j]] = TILEWRIGHT_RECTIFIED(v);
            } else {
                y[part->places[j]] = v < g->low ? g->low : v > g->high ? g->high : v;
            }
        }
    }
}

/* What earlier channels have left of four by four results. */
TILEWRIGHT_FLOAT void tilewright_gathered_begun(const tilewright_gathered *part, const float *y, int results, float *sums)
{
    const int *const places = part->places;
    if (part->beside && results == 4) {
        tilewright_block_copy(y + places[0], part->y_step, 4, sums, 4);
        return;
    }
    for (int at = 1; at <= 4; at++, sums += 4) {
        sums[0] = y[places[0]], sums[1] = y[places[1]], sums[2] = y[places[2]], sums[3] = y[places[3]];
        y += at < results ? part->y_step : 0;
    }
}

/* All results of up to four pixels, four at a time. */
TILEWRIGHT_FLOAT void tilewright_gathered_results(const tilewright_gathering *g, const tilewright_gathered *part)
{
    const int row = part->w_step;
    const float *w = part->w, *b = part->b, *rows[4];
    float *y = part->y, sums[16];
    for (int left = part->results, results; left > 0; left -= results) {
        results = left < 4 ? left : 4;
        rows[0] = w;
        rows[1] = rows[0] + (left > 1 ? row : 0);
        rows[2] = rows[1] + (left > 2 ? row : 0);
        rows[3] = rows[2] + (left > 3 ? row : 0);
        for (int o = 0; o < 4 && !part->begun; o++) {
            const float start = b != NULL ? b[o < results ? o : 0] : 0.0f;
            float *const put = sums + 4 * o;
            put[0] = start, put[1] = start, put[2] = start, put[3] = start;
        }
        if (part->begun) {
            tilewright_gathered_begun(part, y, results, sums);
        }
        tilewright_block_rows(rows, part->x, part->x_step, part->inputs, sums);
        tilewright_gathered_store(g, part, y, results, sums);
        w += results * row, y += results * part->y_step;
        b += b != NULL ? results : 0;
    }
}

#if defined(__GNUC__)
__attribute__((unused)) /* a network may only need what gathers */
#endif
static void tilewright_convolve(const tilewright_gathering *g, const tilewright_product *whole)
{
    const int taps = whole->kernel[0] * whole->kernel[1], pixels = whole->outs[0] * whole->outs[1];
    tilewright_product some = *whole;
    tilewright_gathered part;
    part.w_step = whole->channels * taps;
    part.y_step = whole->y.channel;
    part.results = whole->results;
    for (int at = 0; at < whole->images * whole->groups; at++) {
        const int image = at / whole->groups, group = at % whole->groups, first = group * whole->results;
        part.y = g->y + image * whole->y.image + first * whole->y.channel;
        part.b = g->b != NULL ? g->b + first : NULL;
        for (int pixel = 0; pixel < pixels; pixel += 4) {
            const int count = pixels - pixel < 4 ? pixels - pixel : 4, direct = g->direct && count == 4;
            part.count = count;
            part.beside = g->beside && count == 4;
            for (int j = 0; j < 4; j++) {
                const int one = j < count ? pixel + j : pixel;
                part.places[j] = one / whole->outs[1] * whole->y.row + one % whole->outs[1] * whole->y.column;
            }
            for (int channel = 0; channel < whole->channels; channel += some.channels) {
                const int left = whole->channels - channel;
                const float *const x =
                    g->x + image * whole->x.image + (group * whole->channels + channel) * whole->x.channel;
                some.channels = left < g->at_once ? left : g->at_once;
                if (!direct) {
                    tilewright_gather_taps(&some, x, pixel, count, g->gathered);
                }
                part.x = direct ? x + pixel : g->gathered;
                part.x_step = direct ? whole->x.channel : 4;
                part.w = g->w + (first * whole->channels + channel) * taps;
                part.inputs = some.channels * taps;
                part.begun = channel > 0;
                part.last = left == some.channels;
                tilewright_gathered_results(g, &part);
            }
        }
    }
}
