/* Layers on codes taken back in integers, some channels at a time: their weights are set aside, then they move by their
 * slopes, and then the channels lie under their own gradient. So `dx` may be `x`, and `next` may be `w`. */
/* Weights of up to four channels from `channel` of a group on, zeros for those that lack and for results that do. */
static void tilewright_code_aside(const tilewright_product *p, tilewright_code_descent *d, int group, int channel, int lanes)
{
    const int taps = p->kernel[0] * p->kernel[1], results = (p->results + 3) / 4 * 4, first = group * p->results;
    int16_t *put = d->aside;
    for (int tap = 0; tap < taps; tap++, put += 4 * results) {
        for (int lane = 0; lane < 4; lane++) {
            const int own = lane < lanes ? channel + lane : channel;
            const int8_t *from = d->w + tilewright_code_place(&d->at_w, first, own, tap, p->kernel[1]);
            for (int o = 0; o < results; o++) {
                const int there = lane < lanes && o < p->results;
                put[TILEWRIGHT_CODE_ASIDE(o, lane)] = (int16_t)(there ? tilewright_code_shared(d, first + o, *from) : 0);
                from += there ? d->at_w.outer : 0;
            }
        }
    }
}

/* What a lane reads for `count` pixels from `pixel` on, less the zero point; zeros outside. */
static void tilewright_code_gather(const tilewright_product *p, const tilewright_code_descent *d, int image, int channel, int tap, int pixel, int count, int lane)
{
    const int8_t *const x = d->x + image * p->x.image + channel * p->x.channel;
    const int down = tap / p->kernel[1] * p->dilation[0] - p->begin[0], right = tap % p->kernel[1] * p->dilation[1] - p->begin[1];
    int row = pixel / p->outs[1], column = pixel % p->outs[1];
    for (int at = 0; at < count; at++) {
        const int y = row * p->stride[0] + down, from = column * p->stride[1] + right;
        const int inside = y >= 0 && y < p->size[0] && from >= 0 && from < p->size[1];
        d->gathered[TILEWRIGHT_CODE_PIXEL(at, lane)] = (int16_t)(inside ? x[y * p->x.row + from * p->x.column] - d->zero : 0);
        column++;
        if (column == p->outs[1]) {
            column = 0, row++;
        }
    }
}

/* The slopes of up to four weights of every result, [result][lane]: of channels at taps. */
static void tilewright_code_slopes(const tilewright_product *p, tilewright_code_descent *d, int group, const int *channels, const int *taps, int lanes)
{
    const int pixels = p->outs[0] * p->outs[1];
    for (int at = 0; at < 4 * p->results; at++) {
        d->slopes[at] = 0;
    }
    for (int image = 0; image < p->images; image++) {
        const int8_t *const y = d->codes + image * p->y.image + group * p->results * p->y.channel;
        for (int pixel = 0; pixel < pixels; pixel += d->at_once) {
            const int count = pixels - pixel < d->at_once ? pixels - pixel : d->at_once;
            for (int lane = 0; lane < 4; lane++) {
                const int own = lane < lanes ? lane : 0;
                tilewright_code_gather(p, d, image, group * p->channels + channels[own], taps[own], pixel, count, lane);
            }
            tilewright_code_rows(d->gathered, y + pixel / p->outs[1] * p->y.row + pixel % p->outs[1] * p->y.column, p->y.column, p->y.channel, count, p->results, d->slopes);
        }
    }
}

/* Weights of some channels move by their slopes. */
static void tilewright_code_step(const tilewright_product *p, tilewright_code_descent *d, int group, const int *channels, const int *taps, int lanes, int turned)
{
    const int all = p->kernel[0] * p->kernel[1], columns = p->kernel[1], first = group * p->results;
    for (int lane = 0; lane < lanes; lane++) {
        const tilewright_code_descent own = *d;
        const int c = channels[lane], tap = taps[lane], beside = turned ? 1 : p->channels * all, results = p->results;
        const int8_t *w = d->w + tilewright_code_place(&d->at_w, first, c, tap, columns);
        const int8_t *rest = d->rest + tilewright_code_place(&d->at_rest, first, c, tap, columns);
        int8_t *next = d->next + tilewright_code_place(&d->at_next, first, c, tap, columns);
        int8_t *next_rest = d->next_rest + tilewright_code_place(&d->at_next_rest, first, c, tap, columns);
        int flat = turned ? c * p->results : (first * p->channels + c) * all + tap;
        for (int o = 0; o < results; o++, flat += beside) {
            tilewright_code_move(&own, first + o, own.slopes[4 * o + lane], *w, *rest, (uint32_t)flat, next, next_rest);
            w += own.at_w.outer, rest += own.at_rest.outer, next += own.at_next.outer, next_rest += own.at_next_rest.outer;
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
                    const int16_t *const w = d->aside + tap * ((p->results + 3) / 4 * 16);
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
    const int all = lanes * p->kernel[0] * p->kernel[1];
    if (d->dx != NULL) {
        tilewright_code_aside(p, d, group, channel, lanes);
    }
    for (int at = 0; d->rest != NULL && at < all; at += 4) {
        const int count = all - at < 4 ? all - at : 4;
        int channels[4] = {0, 0, 0, 0}, taps[4] = {0, 0, 0, 0};
        for (int lane = 0; lane < count; lane++) {
            channels[lane] = channel + (at + lane) % lanes, taps[lane] = (at + lane) / lanes;
        }
        tilewright_code_slopes(p, d, group, channels, taps, count);
        tilewright_code_step(p, d, group, channels, taps, count, turned);
    }
    for (int image = 0; d->dx != NULL && image < p->images; image++) {
        for (int row = 0; row < p->size[0]; row++) {
            tilewright_code_row(p, d, image, group, channel, lanes, row);
        }
    }
}

/* A layer of one row, weight by weight: what reads nothing moves nothing. What stays is held apart from what is written. */
static void tilewright_code_vector(const tilewright_product *p, tilewright_code_descent *d, int turned)
{
    const tilewright_code_descent own = *d;
    const int results = p->results, y_step = p->y.channel, same = own.next == own.w && own.next_rest == own.rest;
    const int apart = turned ? 1 : p->channels;
    for (int c = 0; c < p->channels; c++) {
        const int at = c * p->x.channel;
        const int32_t value = own.x[at] - own.zero;
        const int open = own.dx != NULL && own.x[at] > own.low && own.x[at] < own.high;
        const int8_t *w = own.w + c * own.at_w.channel, *y = own.codes;
        int32_t sum = 0;
        for (int o = 0; open && o < results; o++, w += own.at_w.outer, y += y_step) {
            sum += tilewright_code_shared(&own, o, *w) * *y;
        }
        if (own.rest != NULL && (value != 0 || !same)) {
            const int8_t *rest = own.rest + c * own.at_rest.channel;
            int8_t *next = own.next + c * own.at_next.channel, *next_rest = own.next_rest + c * own.at_next_rest.channel;
            uint32_t place = (uint32_t)(turned ? c * results : c);
            w = own.w + c * own.at_w.channel, y = own.codes;
            for (int o = 0; o < results; o++, place += (uint32_t)apart, y += y_step) {
                tilewright_code_move(&own, o, value * *y, *w, *rest, place, next, next_rest);
                w += own.at_w.outer, rest += own.at_rest.outer, next += own.at_next.outer, next_rest += own.at_next_rest.outer;
            }
        }
        if (own.dx != NULL) {
            tilewright_code_put(d, sum, at, (uint32_t)(c * own.place.channel));
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
