/* Products taken back, four channels at a time: the weights of the channels are set aside, these move by the sums of their
 * slopes, and then the channels lie under their own gradient, pixel by pixel. So `dx` may be `x` or `add`, and `next` may
 * be `w` or `target`. */
enum { TILEWRIGHT_TAPS = 16 }; /* taps that are summed at once */

/* One tap for those of four columns that meet something. */
TILEWRIGHT_FLOAT void tilewright_descend_part(const tilewright_product *p, const tilewright_tap *tap, int step, int low, int high,
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

/* The rows of a window that meet a row of the operand: they lie at equal distances. */
static tilewright_reach tilewright_descend_reach(const tilewright_product *p, int row)
{
    tilewright_reach reach = {0, 0, 0, 0, 0};
    for (int kh = 0; kh < p->kernel[0]; kh++) {
        const int down = row + p->begin[0] - kh * p->dilation[0], from = down / p->stride[0];
        if (down < 0 || down % p->stride[0] || from >= p->outs[0]) {
            continue;
        }
        const int w = kh * p->kernel[1] * p->results * 4, y = from * p->y.row;
        if (reach.count == 0) {
            reach.w = w, reach.y = y;
        } else if (reach.count == 1) {
            reach.w_step = w - reach.w, reach.y_step = y - reach.y;
        }
        reach.count++;
    }
    return reach;
}

/* Adds taps to four columns; what neighbouring rows add to those that meet nothing is taken back. */
TILEWRIGHT_FLOAT void tilewright_descend_edge(const tilewright_product *p, const tilewright_tap *met, int meeting, int low,
                                              int high, float *sums)
{
    float kept[16];
    tilewright_block_copy(sums, 4, 4, kept, 4);
    tilewright_block_taps(met, meeting, p->results, p->y.channel, sums);
    for (int j = 0; j < 4; j++) {
        if (j < low || j >= high) {
            sums[j] = kept[j], sums[4 + j] = kept[4 + j], sums[8 + j] = kept[8 + j], sums[12 + j] = kept[12 + j];
        }
    }
}

/* Adds what one product gives to four channels of up to four pixels of a row, `apart` columns from each other. */
TILEWRIGHT_FLOAT void tilewright_descend_back(const tilewright_product *p, const tilewright_descent_term *t, const float *y,
                                              int column, int apart, int count, float *sums)
{
    const int stride = p->stride[1], step = apart / stride, beside = count == 4 && step * p->y.column == 1;
    const int last = (p->outs[0] - 1) * p->y.row + p->outs[1] - 4; /* where four columns begin that end a plane */
    tilewright_tap met[TILEWRIGHT_TAPS];
    int meeting = 0;
    for (int kw = 0; kw < p->kernel[1]; kw++) {
        const int right = column + p->begin[1] - kw * p->dilation[1], start = right / stride;
        int low = 0, high = count, place = t->reach.y + start * p->y.column;
        if (start * stride != right) {
            continue;
        }
        while (low < high && start + low * step < 0) {
            low++;
        }
        while (high > low && start + (high - 1) * step >= p->outs[1]) {
            high--;
        }
        const int all = low == 0 && high == 4, safe = beside && all;
        const float *w = t->aside + t->reach.w + kw * p->results * 4;
        if (!all && meeting) {
            tilewright_block_taps(met, meeting, p->results, p->y.channel, sums);
            meeting = 0;
        }
        for (int kh = 0; kh < (low < high ? t->reach.count : 0); kh++, w += t->reach.w_step, place += t->reach.y_step) {
            const tilewright_tap tap = {w, y + place};
            if (!safe && (!beside || place < 0 || place > last)) {
                tilewright_descend_part(p, &tap, step * p->y.column, low, high, sums);
                continue;
            }
            met[meeting++] = tap;
            if (meeting == TILEWRIGHT_TAPS && all) {
                tilewright_block_taps(met, meeting, p->results, p->y.channel, sums);
                meeting = 0;
            } else if (meeting == TILEWRIGHT_TAPS) {
                tilewright_descend_edge(p, met, meeting, low, high, sums);
                meeting = 0;
            }
        }
        if (!all && meeting) {
            tilewright_descend_edge(p, met, meeting, low, high, sums);
            meeting = 0;
        }
    }
    if (meeting) {
        tilewright_block_taps(met, meeting, p->results, p->y.channel, sums);
    }
}

/* Stores the gradient of four pixels of every channel, masked by what the operand is. */
TILEWRIGHT_FLOAT void tilewright_descend_masked(const float *sums, const float *x, int channel, int step, int channels,
                                                float *dx)
{
    for (; step == 1 && channels; channels--, sums += 4, x += channel, dx += channel) {
        const float s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
        dx[0] = x[0] > 0 ? s0 : 0.0f, dx[1] = x[1] > 0 ? s1 : 0.0f;
        dx[2] = x[2] > 0 ? s2 : 0.0f, dx[3] = x[3] > 0 ? s3 : 0.0f;
    }
    for (; channels; channels--, sums += 4, x += channel, dx += channel) {
        const float x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step];
        dx[0] = x0 > 0 ? sums[0] : 0.0f, dx[step] = x1 > 0 ? sums[1] : 0.0f;
        dx[2 * step] = x2 > 0 ? sums[2] : 0.0f, dx[3 * step] = x3 > 0 ? sums[3] : 0.0f;
    }
}

/* The gradient of up to four pixels of a block of channels. */
TILEWRIGHT_FLOAT void tilewright_descend_pixels(const tilewright_descent *d, const tilewright_product *p,
                                                const tilewright_descent_term *terms, int image, int channel, int channels,
                                                int row, int column, int count)
{
    const int place = image * p->x.image + channel * p->x.channel + row * p->x.row + column * p->x.column;
    const int step = d->apart * p->x.column, beside = step == 1 && count == 4;
    float sums[16];
    if (d->add != NULL && beside && channels == 4) {
        tilewright_block_copy(d->add + place, p->x.channel, 4, sums, 4);
    } else {
        tilewright_zeros(sums, 16);
        for (int at = 0; d->add != NULL && at < channels * count; at++) {
            sums[at / count * 4 + at % count] = d->add[place + at / count * p->x.channel + at % count * step];
        }
    }
    for (int n = 0; n < d->count; n++) {
        const float *const y = terms[n].y + image * p[n].y.image + channel / p[n].channels * p[n].results * p[n].y.channel;
        tilewright_descend_back(&p[n], &terms[n], y, column, d->apart, count, sums);
    }
    if (d->masked && count == 4) {
        tilewright_descend_masked(sums, d->x + place, p->x.channel, step, channels, d->dx + place);
        return;
    }
    if (beside) {
        tilewright_block_copy(sums, 4, channels, d->dx + place, p->x.channel);
        return;
    }
    for (int c = 0; c < channels; c++) {
        const float *x = d->x + place + c * p->x.channel, *from = sums + 4 * c;
        float *dx = d->dx + place + c * p->x.channel;
        for (int j = 0; j < count; j++, x += step, dx += step) {
            TILEWRIGHT_FORGET(dx);
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
                                     tilewright_descent_term *terms, int channel, int channels)
{
    for (int n = 0; n < d->count; n++) {
        const int turns = d->dx != NULL && channels == 4;
        if (d->dx != NULL && !turns) {
            tilewright_descend_aside(&p[n], &terms[n], channel, channels);
        }
        tilewright_descend_move(d, &p[n], &terms[n], channel, channels, turns);
    }
    for (int at = 0; d->dx != NULL && at < p->images * p->size[0]; at++) {
        const int image = at / p->size[0], row = at % p->size[0];
        for (int n = 0; n < d->count; n++) {
            terms[n].reach = tilewright_descend_reach(&p[n], row);
        }
        for (int first = 0; first < d->apart; first++) {
            for (int column = first; column < p->size[1]; column += 4 * d->apart) {
                const int left = (p->size[1] - 1 - column) / d->apart + 1;
                tilewright_descend_pixels(d, p, terms, image, channel, channels, row, column, left < 4 ? left : 4);
            }
        }
    }
}

static void tilewright_descend(const tilewright_descent *d, const tilewright_product *p, tilewright_descent_term *terms)
{
    for (int channel = 0; channel < d->channels; channel += d->block) {
        const int channels = d->channels - channel < d->block ? d->channels - channel : d->block;
        tilewright_descend_block(d, p, terms, channel, channels);
    }
}
