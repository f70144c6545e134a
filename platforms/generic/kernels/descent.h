/* Products taken back, four channels at a time: the weights of the channels are set aside, these move by the sums of their
 * slopes, and then the channels lie under their own gradient, pixel by pixel. So `dx` may be `x` or `add`, and `next` may
 * be `w` or `target`. */
enum { TILEWRIGHT_TAPS = 16 }; /* taps that are summed at once */
typedef struct {
    int result, channel, row, column; /* elements from one weight to the next */
} tilewright_weights;
typedef struct {
    const float *w, *y, *target; /* target is w where weights themselves move */
    float *next, *aside;         /* aside: the weights of four channels, [tap][result][channel] */
    int rows_at_once;            /* rows of the gradient for which the operand is gathered, 0 where it is read in place */
    tilewright_weights at_w, at_target, at_next;
} tilewright_descent_term;
typedef struct {
    int count, block, channels, masked, apart; /* apart: columns between those that one step of every product reaches */
    float rate, decay;
    const float *x, *add;
    float *dx; /* NULL where no gradient is asked for */
    float *slopes, *gathered;
} tilewright_descent;

static inline int tilewright_weight(const tilewright_weights *at, int result, int channel, const tilewright_product *p,
                                    int tap)
{
    return result * at->result + channel * at->channel + tap / p->kernel[1] * at->row + tap % p->kernel[1] * at->column;
}

/* Four weights of every tap and result side by side; zeros for channels that a block lacks. */
static void tilewright_descend_aside(const tilewright_product *p, const tilewright_descent_term *t, int channel, int count)
{
    static const float zero = 0.0f;
    const int taps = p->kernel[0] * p->kernel[1], first = channel / p->channels * p->results;
    for (int tap = 0; tap < taps; tap++) {
        const float *lines[4];
        int steps[4];
        for (int c = 0; c < 4; c++) {
            lines[c] = c < count ? t->w + tilewright_weight(&t->at_w, first, channel % p->channels + c, p, tap) : &zero;
            steps[c] = c < count ? t->at_w.result : 0;
        }
        tilewright_interleave(lines, steps, p->results, t->aside + tap * p->results * 4, 4);
    }
}

/* What one channel has at a tap for rows of the gradient, zero where nothing meets. */
static void tilewright_descend_gather(const tilewright_product *p, const float *x, int tap, int row, int rows, float *put)
{
    const int down = tap / p->kernel[1] * p->dilation[0] - p->begin[0], stride = p->stride[1];
    const int right = tap % p->kernel[1] * p->dilation[1] - p->begin[1], last = p->size[1] - 1 - right;
    const int low = right < 0 ? (stride - 1 - right) / stride : 0, end = last < 0 ? 0 : last / stride + 1;
    const int high = end < p->outs[1] ? end : p->outs[1], step = stride * p->x.column;
    for (int at = row; at < row + rows; at++) {
        const int place = at * p->stride[0] + down;
        const int inside = place >= 0 && place < p->size[0] && low < high;
        const float *from = inside ? x + place * p->x.row + (low * stride + right) * p->x.column : x;
        int column = 0;
        for (; column < (inside ? low : p->outs[1]); column++) {
            *put++ = 0.0f;
        }
        for (; column < high; column++, from += step) {
            *put++ = *from;
        }
        for (; column < p->outs[1]; column++) {
            *put++ = 0.0f;
        }
    }
}

/* Adds to slopes[result][lane] what `count` elements of four lanes of x make with the gradient of every result. */
static void tilewright_descend_dots(const tilewright_product *p, const float *const *x, const float *y, int x_step,
                                    int y_step, int count, float *slopes)
{
    for (int o = 0; o < p->results; o += 4, slopes += 16) {
        const float *lines[4];
        for (int j = 0; j < 4; j++) {
            lines[j] = y + (o + j < p->results ? o + j : p->results - 1) * p->y.channel;
        }
        if (x_step == 1 && y_step == 1) {
            tilewright_block_dots(lines, x, count, slopes);
            continue;
        }
        for (int at = 0; at < 16; at++) {
            const float *one = x[at % 4], *other = lines[at / 4];
            float sum = slopes[at];
            for (int i = 0; i < count; i++, one += x_step, other += y_step) {
                sum = TILEWRIGHT_MULTIPLY_ADD(*one, *other, sum);
            }
            slopes[at] = sum;
        }
    }
}

/* The slopes of up to four weights of every result: those of four channels at a tap, or of single channels at any. */
static void tilewright_descend_slopes(const tilewright_descent *d, const tilewright_product *p,
                                      const tilewright_descent_term *t, const int *channels, const int *taps,
                                      float *slopes)
{
    const float *const y = t->y + channels[0] / p->channels * p->results * p->y.channel;
    const tilewright_meeting m = tilewright_meet(p, taps[0]);
    tilewright_zeros(slopes, (p->results + 3) / 4 * 16);
    for (int image = 0; image < p->images; image++) {
        const float *x[4];
        for (int row = 0; t->rows_at_once && row < p->outs[0]; row += t->rows_at_once) {
            const int rows = p->outs[0] - row < t->rows_at_once ? p->outs[0] - row : t->rows_at_once;
            for (int lane = 0; lane < 4; lane++) {
                float *const put = d->gathered + lane * rows * p->outs[1];
                x[lane] = put;
                tilewright_descend_gather(p, d->x + image * p->x.image + channels[lane] * p->x.channel, taps[lane], row,
                                          rows, put);
            }
            tilewright_descend_dots(p, x, y + image * p->y.image + row * p->y.row, 1, 1, rows * p->outs[1], slopes);
        }
        for (int row = 0; !t->rows_at_once && row < m.rows; row++) {
            for (int lane = 0; lane < 4; lane++) {
                x[lane] = d->x + m.x_start + image * p->x.image + channels[lane] * p->x.channel + row * m.x.row;
            }
            tilewright_descend_dots(p, x, y + m.y_start + image * p->y.image + row * m.y.row, m.x.column, m.y.column,
                                    m.columns, slopes);
        }
    }
}

/* The weights of a block of channels move by their slopes; in a block of four they take the place of these aside. */
static void tilewright_descend_move(const tilewright_descent *d, const tilewright_product *p,
                                    const tilewright_descent_term *t, int channel, int count, int turns)
{
    const int taps = p->kernel[0] * p->kernel[1], first = channel / p->channels * p->results;
    const int lanes = t->rows_at_once || count == 4 ? 4 : 1, all = count * taps;
    for (int at = 0; at < all; at += lanes) {
        int own[4], place[4];
        for (int lane = 0; lane < 4; lane++) {
            const int one = lane < lanes && at + lane < all ? at + lane : at;
            own[lane] = channel + one % count, place[lane] = one / count;
        }
        float *const slopes = turns ? t->aside + at * p->results : d->slopes;
        tilewright_descend_slopes(d, p, t, own, place, slopes);
        for (int lane = 0; lane < lanes && at + lane < all; lane++) {
            const int inside = own[lane] % p->channels;
            const float *from = t->target + tilewright_weight(&t->at_target, first, inside, p, place[lane]);
            const float *old = t->w + tilewright_weight(&t->at_w, first, inside, p, place[lane]);
            float *to = t->next + tilewright_weight(&t->at_next, first, inside, p, place[lane]), *slope = slopes + lane;
            for (int o = 0; o < p->results; o++, from += t->at_target.result, to += t->at_next.result, slope += 4) {
                const float moved = TILEWRIGHT_MULTIPLY_ADD(d->rate, *slope, d->decay * *from);
                if (turns) {
                    *slope = *old;
                    old += t->at_w.result;
                }
                *to = moved;
            }
        }
    }
}

/* One tap for those of four columns that meet something. */
static void tilewright_descend_part(const tilewright_product *p, const tilewright_tap *tap, int step, int low, int high,
                                    float *sums)
{
    for (int j = low; j < high; j++) {
        const float *w = tap->w, *source = tap->source + j * step;
        float s0 = sums[j], s1 = sums[4 + j], s2 = sums[8 + j], s3 = sums[12 + j];
        for (int o = 0; o < p->results; o++, w += 4, source += p->y.channel) {
            const float value = *source;
            s0 = TILEWRIGHT_MULTIPLY_ADD(w[0], value, s0);
            s1 = TILEWRIGHT_MULTIPLY_ADD(w[1], value, s1);
            s2 = TILEWRIGHT_MULTIPLY_ADD(w[2], value, s2);
            s3 = TILEWRIGHT_MULTIPLY_ADD(w[3], value, s3);
        }
        sums[j] = s0, sums[4 + j] = s1, sums[8 + j] = s2, sums[12 + j] = s3;
    }
}

/* Adds what one product gives to four channels of up to four pixels, `apart` columns from each other. */
static void tilewright_descend_back(const tilewright_product *p, const tilewright_descent_term *t, const float *y, int row,
                                    int column, int apart, int count, float *sums)
{
    const int step = apart / p->stride[1], together = count == 4 && step * p->y.column == 1;
    const int last = (p->outs[0] - 1) * p->y.row + p->outs[1] - 4; /* where four columns begin that end a plane */
    tilewright_tap met[TILEWRIGHT_TAPS];
    int meeting = 0;
    for (int kw = 0; kw < p->kernel[1]; kw++) {
        const int right = column + p->begin[1] - kw * p->dilation[1], start = right / p->stride[1];
        int low = 0, high = count;
        while (low < high && start + low * step < 0) {
            low++;
        }
        while (high > low && start + (high - 1) * step >= p->outs[1]) {
            high--;
        }
        for (int kh = 0; kh < p->kernel[0] && low < high && right % p->stride[1] == 0; kh++) {
            const int down = row + p->begin[0] - kh * p->dilation[0], from = down / p->stride[0];
            if (down < 0 || down % p->stride[0] || from >= p->outs[0]) {
                continue;
            }
            const int place = from * p->y.row + start * p->y.column;
            const tilewright_tap tap = {t->aside + (kh * p->kernel[1] + kw) * p->results * 4, y + place};
            if (!together || place < 0 || place > last) {
                tilewright_descend_part(p, &tap, step * p->y.column, low, high, sums);
                continue;
            }
            if (low > 0 || high < 4) { /* what neighbouring rows add to columns that meet nothing is taken back */
                float kept[16];
                tilewright_copied(kept, sums, 16);
                tilewright_block_taps(&tap, 1, p->results, p->y.channel, sums);
                for (int at = 0; at < 16; at++) {
                    sums[at] = at % 4 < low || at % 4 >= high ? kept[at] : sums[at];
                }
                continue;
            }
            met[meeting++] = tap;
            if (meeting == TILEWRIGHT_TAPS) {
                tilewright_block_taps(met, meeting, p->results, p->y.channel, sums);
                meeting = 0;
            }
        }
    }
    if (meeting) {
        tilewright_block_taps(met, meeting, p->results, p->y.channel, sums);
    }
}

/* The gradient of up to four pixels of a block of channels. */
static void tilewright_descend_pixels(const tilewright_descent *d, const tilewright_product *p,
                                      const tilewright_descent_term *terms, int image, int channel, int channels, int row,
                                      int column, int count)
{
    const int place = image * p->x.image + channel * p->x.channel + row * p->x.row + column * p->x.column;
    const int step = d->apart * p->x.column;
    float sums[16];
    tilewright_zeros(sums, 16);
    for (int c = 0; d->add != NULL && c < channels; c++) {
        for (int j = 0; j < count; j++) {
            sums[4 * c + j] = d->add[place + c * p->x.channel + j * step];
        }
    }
    for (int n = 0; n < d->count; n++) {
        const float *const y = terms[n].y + image * p[n].y.image + channel / p[n].channels * p[n].results * p[n].y.channel;
        tilewright_descend_back(&p[n], &terms[n], y, row, column, d->apart, count, sums);
    }
    for (int c = 0; c < channels; c++) {
        const float *x = d->x + place + c * p->x.channel, *from = sums + 4 * c;
        float *dx = d->dx + place + c * p->x.channel;
        if (step == 1 && count == 4) { /* four of them without a loop */
            const float s0 = from[0], s1 = from[1], s2 = from[2], s3 = from[3];
            if (d->masked) {
                dx[0] = x[0] > 0 ? s0 : 0.0f, dx[1] = x[1] > 0 ? s1 : 0.0f;
                dx[2] = x[2] > 0 ? s2 : 0.0f, dx[3] = x[3] > 0 ? s3 : 0.0f;
            } else {
                dx[0] = s0, dx[1] = s1, dx[2] = s2, dx[3] = s3;
            }
            continue;
        }
        for (int j = 0; j < count; j++, x += step, dx += step) {
            *dx = d->masked && !(*x > 0) ? 0.0f : from[j];
        }
    }
}

/* The same product from a later channel on. */
static inline tilewright_descent_term tilewright_descend_from(const tilewright_descent_term *t, int channel)
{
    tilewright_descent_term later = *t;
    later.w += channel * t->at_w.channel;
    later.target += channel * t->at_target.channel;
    later.next += channel * t->at_next.channel;
    return later;
}

/* A block of channels. */
static void tilewright_descend_block(const tilewright_descent *d, const tilewright_product *p,
                                     const tilewright_descent_term *terms, int channel, int channels)
{
    for (int n = 0; n < d->count; n++) {
        const int turns = d->dx != NULL && channels == 4;
        if (d->dx != NULL && !turns) {
            tilewright_descend_aside(&p[n], &terms[n], channel, channels);
        }
        tilewright_descend_move(d, &p[n], &terms[n], channel, channels, turns);
    }
    for (int at = 0; d->dx != NULL && at < p->images * p->size[0]; at++) {
        for (int first = 0; first < d->apart; first++) {
            for (int column = first; column < p->size[1]; column += 4 * d->apart) {
                const int left = (p->size[1] - 1 - column) / d->apart + 1;
                tilewright_descend_pixels(d, p, terms, at / p->size[0], channel, channels, at % p->size[0], column,
                                          left < 4 ? left : 4);
            }
        }
    }
}

static void tilewright_descend(const tilewright_descent *d, const tilewright_product *p,
                               const tilewright_descent_term *terms)
{
    for (int channel = 0; channel < d->channels; channel += d->block) {
        const int channels = d->channels - channel < d->block ? d->channels - channel : d->block;
        tilewright_descend_block(d, p, terms, channel, channels);
    }
}
