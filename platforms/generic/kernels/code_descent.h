/* Layers on codes taken back in integers, some channels at a time: their weights are set aside, then they move by their
 * slopes, and then the channels lie under their own gradient. So `dx` may be `x`, and `next` may be `w`. */
/* Weights of up to four channels from `channel` of a group side by side, zeros for those that lack. */
static void tilewright_code_aside(const tilewright_product *p, tilewright_code_descent *d, int group, int channel, int lanes)
{
    const int taps = p->kernel[0] * p->kernel[1];
    int16_t *put = d->aside;
    for (int tap = 0; tap < taps; tap++) {
        for (int o = 0; o < p->results; o++, put += 4) {
            const int result = group * p->results + o;
            for (int lane = 0; lane < 4; lane++) {
                const int place = tilewright_code_place(&d->at_w, result, channel + lane, tap, p->kernel[1]);
                put[lane] = lane < lanes ? (int16_t)tilewright_code_shared(d, result, d->w[place]) : (int16_t)0;
            }
        }
    }
}

/* The slopes of four channels that lie side by side, with four results that do. */
static void tilewright_code_fours(const tilewright_meeting *m, const int8_t *x, const int8_t *y, int32_t zero, int32_t *slopes)
{
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (int row = 0; row < m->rows; row++) {
        const int8_t *a = x + row * m->x.row, *b = y + row * m->y.row;
        for (int column = 0; column < m->columns; column++, a += m->x.column, b += m->y.column) {
            const int32_t x0 = a[0] - zero, x1 = a[1] - zero, x2 = a[2] - zero, x3 = a[3] - zero;
            const int32_t y0 = b[0], y1 = b[1];
            s0 += x0 * y0, s1 += x1 * y0, s2 += x2 * y0, s3 += x3 * y0;
            s4 += x0 * y1, s5 += x1 * y1, s6 += x2 * y1, s7 += x3 * y1;
        }
    }
    slopes[0] += s0, slopes[1] += s1, slopes[2] += s2, slopes[3] += s3;
    slopes[4] += s4, slopes[5] += s5, slopes[6] += s6, slopes[7] += s7;
}

static int32_t tilewright_code_ones(const tilewright_meeting *m, const int8_t *x, const int8_t *y, int32_t zero)
{
    int32_t sum = 0;
    for (int row = 0; row < m->rows; row++) {
        const int8_t *a = x + row * m->x.row, *b = y + row * m->y.row;
        for (int column = 0; column < m->columns; column++, a += m->x.column, b += m->y.column) {
            sum += (*a - zero) * *b;
        }
    }
    return sum;
}

/* The slopes of a tap for every result and up to four channels, [result][channel]. */
static void tilewright_code_slopes(const tilewright_product *p, tilewright_code_descent *d, int group, int channel, int lanes, int tap)
{
    const tilewright_meeting m = tilewright_meet(p, tap);
    const int beside = lanes == 4 && p->x.channel == 1 && p->y.channel == 1;
    for (int at = 0; at < 4 * p->results; at++) {
        d->slopes[at] = 0;
    }
    for (int image = 0; image < p->images; image++) {
        const int8_t *x = d->x + image * p->x.image + (group * p->channels + channel) * p->x.channel + m.x_start;
        const int8_t *y = d->codes + image * p->y.image + group * p->results * p->y.channel + m.y_start;
        int o = 0;
        for (; beside && o + 1 < p->results; o += 2) {
            tilewright_code_fours(&m, x, y + o, d->zero, d->slopes + 4 * o);
        }
        for (; o < p->results; o++) {
            for (int lane = 0; lane < lanes; lane++) {
                d->slopes[4 * o + lane] += tilewright_code_ones(&m, x + lane * p->x.channel, y + o * p->y.channel, d->zero);
            }
        }
    }
}

/* The weights of some channels at a tap move by their slopes. */
static void tilewright_code_step(const tilewright_product *p, tilewright_code_descent *d, int group, int channel, int lanes, int tap, int turned)
{
    const int taps = p->kernel[0] * p->kernel[1], columns = p->kernel[1];
    for (int o = 0; o < p->results; o++) {
        const int result = group * p->results + o;
        for (int lane = 0; lane < lanes; lane++) {
            const int c = channel + lane;
            const int flat = turned ? c * p->results + o : (result * p->channels + c) * taps + tap;
            const int32_t weight = d->w[tilewright_code_place(&d->at_w, result, c, tap, columns)];
            const int32_t rest = d->rest[tilewright_code_place(&d->at_rest, result, c, tap, columns)];
            int8_t *const next = d->next + tilewright_code_place(&d->at_next, result, c, tap, columns);
            int8_t *const next_rest = d->next_rest + tilewright_code_place(&d->at_next_rest, result, c, tap, columns);
            tilewright_code_move(d, result, d->slopes[4 * o + lane], weight, rest, (uint32_t)flat, next, next_rest);
        }
    }
}

/* The taps that meet a row (axis 0) or column of the operand: they lie at equal distances. */
static tilewright_code_reach tilewright_code_meet(const tilewright_product *p, int axis, int place)
{
    tilewright_code_reach reach = {0, 0, 0, 0, 0};
    for (int tap = 0; tap < p->kernel[axis]; tap++) {
        const int down = place + p->begin[axis] - tap * p->dilation[axis], at = down / p->stride[axis];
        if (down < 0 || down % p->stride[axis] != 0 || at >= p->outs[axis]) {
            continue;
        }
        if (reach.count == 0) {
            reach.tap = (int16_t)tap, reach.at = (int16_t)at;
        } else if (reach.count == 1) {
            reach.tap_step = (int16_t)(tap - reach.tap), reach.at_step = (int16_t)(at - reach.at);
        }
        reach.count = (int16_t)(reach.count + 1);
    }
    return reach;
}

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

/* The gradient of some channels of a row, two pixels at a time where the same taps meet them. */
static void tilewright_code_row(const tilewright_product *p, tilewright_code_descent *d, int image, int group, int channel, int lanes, int row)
{
    const tilewright_code_reach down = tilewright_code_meet(p, 0, row);
    const int8_t *const y = d->codes + image * p->y.image + group * p->results * p->y.channel;
    const int stride = p->stride[1], all = group * p->channels + channel;
    for (int phase = 0; phase < stride; phase++) {
        for (int column = phase; column < p->size[1];) {
            const tilewright_code_reach *const right = d->columns + column;
            const tilewright_code_reach *const other = right + (column + stride < p->size[1] ? stride : 0);
            const int two = other != right && other->count == right->count && other->tap == right->tap;
            int32_t sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
            for (int kh = 0; kh < down.count; kh++) {
                const int8_t *const line = y + (down.at + kh * down.at_step) * p->y.row;
                for (int kw = 0; kw < right->count; kw++) {
                    const int tap = (down.tap + kh * down.tap_step) * p->kernel[1] + right->tap + kw * right->tap_step;
                    const int8_t *const from = line + (right->at + kw * right->at_step) * p->y.column;
                    const int16_t *const w = d->aside + tap * p->results * 4;
                    if (two) {
                        tilewright_code_two(w, from, p->y.column, p->y.channel, p->results, sums);
                    } else {
                        tilewright_code_one(w, from, p->y.channel, p->results, sums);
                    }
                }
            }
            for (int pixel = 0; pixel < 1 + two; pixel++, column += stride) {
                const int at = image * p->x.image + all * p->x.channel + row * p->x.row + column * p->x.column;
                const int place = image * d->place.outer + all * d->place.channel + row * d->place.row + column * d->place.column;
                for (int lane = 0; lane < lanes; lane++) {
                    tilewright_code_put(d, sums[4 * pixel + lane], at + lane * p->x.channel, (uint32_t)(place + lane * d->place.channel));
                }
            }
        }
    }
}

static void tilewright_code_block(const tilewright_product *p, tilewright_code_descent *d, int group, int channel, int lanes, int turned)
{
    const int taps = p->kernel[0] * p->kernel[1];
    if (d->dx != NULL) {
        tilewright_code_aside(p, d, group, channel, lanes);
    }
    for (int tap = 0; d->rest != NULL && tap < taps; tap++) {
        tilewright_code_slopes(p, d, group, channel, lanes, tap);
        tilewright_code_step(p, d, group, channel, lanes, tap, turned);
    }
    for (int image = 0; d->dx != NULL && image < p->images; image++) {
        for (int row = 0; row < p->size[0]; row++) {
            tilewright_code_row(p, d, image, group, channel, lanes, row);
        }
    }
}

/* A layer of one row, weight by weight: what reads nothing moves nothing. */
static void tilewright_code_vector(const tilewright_product *p, tilewright_code_descent *d, int turned)
{
    const int same = d->next == d->w && d->next_rest == d->rest;
    for (int c = 0; c < p->channels; c++) {
        const int at = c * p->x.channel;
        const int32_t value = d->x[at] - d->zero;
        const int open = d->dx != NULL && d->x[at] > d->low && d->x[at] < d->high;
        const int moves = d->rest != NULL && (value != 0 || !same);
        int32_t sum = 0;
        for (int o = 0; open && o < p->results; o++) {
            sum += tilewright_code_shared(d, o, d->w[o * d->at_w.outer + c * d->at_w.channel]) * d->codes[o * p->y.channel];
        }
        for (int o = 0; moves && o < p->results; o++) {
            tilewright_code_move(d, o, value * d->codes[o * p->y.channel], d->w[o * d->at_w.outer + c * d->at_w.channel],
                                 d->rest[o * d->at_rest.outer + c * d->at_rest.channel],
                                 (uint32_t)(turned ? c * p->results + o : o * p->channels + c),
                                 d->next + o * d->at_next.outer + c * d->at_next.channel,
                                 d->next_rest + o * d->at_next_rest.outer + c * d->at_next_rest.channel);
        }
        if (d->dx != NULL) {
            tilewright_code_put(d, sum, at, (uint32_t)(c * d->place.channel));
        }
    }
}

static void tilewright_code_descend(const tilewright_product *p, tilewright_code_descent *d, int turned)
{
    if (p->groups == 1 && p->images == 1 && p->size[0] * p->size[1] == 1 && p->outs[0] * p->outs[1] == 1 && p->kernel[0] * p->kernel[1] == 1) {
        tilewright_code_vector(p, d, turned);
        return;
    }
    for (int column = 0; d->dx != NULL && column < p->size[1]; column++) {
        d->columns[column] = tilewright_code_meet(p, 1, column);
    }
    for (int group = 0; group < p->groups; group++) {
        for (int channel = 0; channel < p->channels; channel += 4) {
            const int left = p->channels - channel;
            tilewright_code_block(p, d, group, channel, left < 4 ? left : 4, turned);
        }
    }
}
