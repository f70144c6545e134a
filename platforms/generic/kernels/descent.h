/* Products taken back: a block of channels at a time has its slopes summed, then lies under its own gradient; weights
 * move when nothing reads the old ones any more. So `dx` may be `x` or `add`, and `next` may be `w` or `target`. */
typedef struct {
    int result, channel, row, column; /* elements from one weight to the next */
} tilewright_weights;
typedef struct {
    const float *w, *y, *target; /* target is w where weights themselves move */
    float *next, *slopes;        /* slopes: a column that waits until the old weights are read, NULL where none must */
    tilewright_weights at_w, at_target, at_next;
} tilewright_descent_term;
typedef struct {
    int count, block, channels, masked;
    float rate, decay;
    const float *x, *add;
    float *dx; /* NULL where no gradient is asked for */
    uint32_t *positive;
} tilewright_descent;

static inline int tilewright_weight(const tilewright_weights *at, int result, int channel, const tilewright_product *p,
                                    int tap)
{
    return result * at->result + channel * at->channel + tap / p->kernel[1] * at->row + tap % p->kernel[1] * at->column;
}

/* One weight moves by its slope. */
static inline void tilewright_move(const tilewright_descent *d, const tilewright_product *p,
                                   const tilewright_descent_term *t, int result, int channel, int tap, float slope)
{
    const float old = t->target[tilewright_weight(&t->at_target, result, channel, p, tap)];
    t->next[tilewright_weight(&t->at_next, result, channel, p, tap)] =
        TILEWRIGHT_MULTIPLY_ADD(d->rate, slope, d->decay * old);
}

/* The slopes of a block of channels; into `next`, or into the column [result][channel of the block][tap]. */
static void tilewright_descend_slopes(const tilewright_descent *d, const tilewright_product *p,
                                      const tilewright_descent_term *t, int channel)
{
    const int taps = p->kernel[0] * p->kernel[1], group = channel / p->channels, inside = channel % p->channels;
    const int first = group * p->results;
    for (int tap = 0; tap < taps; tap++) {
        const tilewright_meeting m = tilewright_meet(p, tap);
        for (int o = 0; o < p->results;) {
            const int wide = d->block == 4 && o + 4 <= p->results, high = wide ? 4 : 1;
            const float *const y = t->y + (first + o) * p->y.channel;
            float sums[16];
            if (wide) {
                tilewright_slopes_4x4(d->x + channel * p->x.channel, y, &m, sums);
            } else {
                for (int c = 0; c < d->block; c++) {
                    sums[c] = tilewright_slope(d->x + (channel + c) * p->x.channel, y, &m);
                }
            }
            for (int at = 0; at < high * d->block; at++) {
                const int result = o + at / d->block, c = at % d->block;
                if (t->slopes != NULL) {
                    t->slopes[(result * d->block + c) * taps + tap] = sums[at];
                } else {
                    tilewright_move(d, p, t, first + result, inside + c, tap, sums[at]);
                }
            }
            o += high;
        }
    }
}

/* The gradient of a block of channels is added to `dx`. */
static void tilewright_descend_back(const tilewright_descent *d, const tilewright_product *p,
                                    const tilewright_descent_term *t, int channel)
{
    const int taps = p->kernel[0] * p->kernel[1], group = channel / p->channels, inside = channel % p->channels;
    for (int tap = 0; tap < taps; tap++) {
        const tilewright_meeting m = tilewright_meet(p, tap);
        const float *const w = t->w + tilewright_weight(&t->at_w, group * p->results, inside, p, tap);
        float *const dx = d->dx + channel * p->x.channel + m.x_start;
        for (int o = 0; o < p->results;) {
            const int wide = d->block == 4 && o + 4 <= p->results;
            const float *const y = t->y + (group * p->results + o) * p->y.channel + m.y_start;
            if (wide) {
                float f[16];
                for (int at = 0; at < 16; at++) {
                    f[at] = w[(o + at / 4) * t->at_w.result + at % 4 * t->at_w.channel];
                }
                tilewright_spread_4x4(dx, &m.x, y, &m.y, m.images, m.rows, m.columns, f);
            } else {
                for (int c = 0; c < d->block; c++) {
                    const float f = w[o * t->at_w.result + c * t->at_w.channel];
                    tilewright_spread(dx + c * p->x.channel, &m.x, y, &m.y, m.images, m.rows, m.columns, f);
                }
            }
            o += wide ? 4 : 1;
        }
    }
}

/* What a block of channels begins with: the gradient of other readers or zero; which elements were positive is noted. */
static void tilewright_descend_begin(const tilewright_descent *d, const tilewright_product *p, int channel)
{
    const int plane = p->size[0] * p->size[1], count = d->block * p->images * plane;
    if (d->masked) {
        memset(d->positive, 0, (size_t)((count + 31) / 32) * sizeof *d->positive);
    }
    for (int at = 0; at < count; at++) {
        const int c = at / (p->images * plane), image = at / plane % p->images, row = at % plane / p->size[1];
        const int place = (channel + c) * p->x.channel + image * p->x.image + row * p->x.row
                          + at % p->size[1] * p->x.column;
        if (d->masked && d->x[place] > 0) {
            d->positive[at / 32] |= (uint32_t)1 << at % 32;
        }
        d->dx[place] = d->add != NULL ? d->add[place] : 0.0f;
    }
}

static void tilewright_descend_end(const tilewright_descent *d, const tilewright_product *p, int channel)
{
    const int plane = p->size[0] * p->size[1], count = d->block * p->images * plane;
    for (int at = 0; d->masked && at < count; at++) {
        if ((d->positive[at / 32] >> at % 32 & 1) == 0) {
            const int c = at / (p->images * plane), image = at / plane % p->images, row = at % plane / p->size[1];
            d->dx[(channel + c) * p->x.channel + image * p->x.image + row * p->x.row + at % p->size[1] * p->x.column] =
                0.0f;
        }
    }
}

static void tilewright_descend_step(const tilewright_descent *d, const tilewright_product *p,
                                    const tilewright_descent_term *t, int channel)
{
    const int taps = p->kernel[0] * p->kernel[1], group = channel / p->channels, inside = channel % p->channels;
    const float *slope = t->slopes;
    for (int result = group * p->results; slope != NULL && result < (group + 1) * p->results; result++) {
        for (int c = inside; c < inside + d->block; c++) {
            for (int tap = 0; tap < taps; tap++) {
                tilewright_move(d, p, t, result, c, tap, *slope++);
            }
        }
    }
}

static void tilewright_descend(const tilewright_descent *d, const tilewright_product *p,
                                      const tilewright_descent_term *terms)
{
    for (int channel = 0; channel < d->channels; channel += d->block) {
        for (int n = 0; n < d->count; n++) {
            tilewright_descend_slopes(d, &p[n], &terms[n], channel);
        }
        if (d->dx == NULL) {
            continue;
        }
        tilewright_descend_begin(d, p, channel);
        for (int n = 0; n < d->count; n++) {
            tilewright_descend_back(d, &p[n], &terms[n], channel);
        }
        tilewright_descend_end(d, p, channel);
        for (int n = 0; n < d->count; n++) {
            tilewright_descend_step(d, &p[n], &terms[n], channel);
        }
    }
}
