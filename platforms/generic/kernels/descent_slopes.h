/* Products taken back: what their weights move by. It brings tilewright_descent and its terms, tilewright_descend_aside and
 * tilewright_descend_move. */
typedef struct {
    int result, channel, row, column; /* elements from one weight to the next */
} tilewright_weights;
typedef struct {
    int count, w, w_step, y, y_step; /* rows of a window that meet a row of the operand, where their weights lie aside,
                                      * and the rows of the gradient */
} tilewright_reach;
typedef struct {
    const float *w, *y, *target; /* target is w where weights themselves move */
    float *next, *aside;         /* aside: the weights of four channels, [tap][result][channel] */
    int rows_at_once;            /* rows of the gradient for which the operand is gathered, 0 where it is read in place */
    tilewright_weights at_w, at_target, at_next;
    tilewright_reach reach;
} tilewright_descent_term;
typedef struct {
    int count, block, channels, masked, apart; /* apart: columns between those that one step of every product reaches */
    float rate, decay;
    const float *x, *add;
    float *dx; /* NULL where no gradient is asked for */
    float *slopes, *gathered;
} tilewright_descent;

#if defined(__GNUC__)
__attribute__((always_inline)) /* into kernels that are compiled with options of their own, too */
#endif
static inline int tilewright_weight(const tilewright_weights *at, int result, int channel, const tilewright_product *p,
                                    int tap)
{
    return result * at->result + channel * at->channel + tap / p->kernel[1] * at->row + tap % p->kernel[1] * at->column;
}

/* Four weights of every tap and result side by side; zeros for channels that a block lacks. */
TILEWRIGHT_FLOAT void tilewright_descend_aside(const tilewright_product *p, const tilewright_descent_term *t, int channel, int count)
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

/* What a lane has at a tap: where its first column would lie, and the columns of the gradient that meet some. */
typedef struct {
    const float *x;
    int down, low, high;
} tilewright_descent_lane;

static tilewright_descent_lane tilewright_descend_lane_at(const tilewright_product *p, const float *x, int tap)
{
    const int stride = p->stride[1], right = tap % p->kernel[1] * p->dilation[1] - p->begin[1];
    const int last = p->size[1] - 1 - right, end = last < 0 ? 0 : last / stride + 1;
    tilewright_descent_lane lane;
    lane.x = x + right * p->x.column;
    lane.down = tap / p->kernel[1] * p->dilation[0] - p->begin[0];
    lane.low = right < 0 ? (stride - 1 - right) / stride : 0;
    lane.high = end < p->outs[1] ? end : p->outs[1];
    return lane;
}

/* What four lanes have for rows of the gradient, [element][lane], zero where nothing meets. */
TILEWRIGHT_FLOAT void tilewright_descend_gather(const tilewright_product *p, const float *const *x, const int *taps, int row,
                                                int rows, float *put)
{
    static const float zero = 0.0f;
    const int columns = p->outs[1], step = p->stride[1] * p->x.column;
    tilewright_descent_lane lanes[4];
    int low = 0, high = columns;
    for (int j = 0; j < 4; j++) {
        lanes[j] = tilewright_descend_lane_at(p, x[j], taps[j]);
        low = lanes[j].low > low ? lanes[j].low : low;
        high = lanes[j].high < high ? lanes[j].high : high;
    }
    low = low < high ? low : columns;
    high = low < high ? high : columns;
    for (int at = row; at < row + rows; at++, put += 4 * columns) {
        const float *lines[4];
        int steps[4], inside = 1;
        for (int j = 0; j < 4; j++) {
            const int place = at * p->stride[0] + lanes[j].down, in = place >= 0 && place < p->size[0];
            const float *const first = lanes[j].x + (in ? place : 0) * p->x.row;
            for (int column = low ? 0 : high; column < columns; column += column + 1 == low ? high - low + 1 : 1) {
                put[4 * column + j] =
                    in && column >= lanes[j].low && column < lanes[j].high ? first[column * step] : 0.0f;
            }
            lines[j] = in ? first + low * step : &zero;
            steps[j] = in ? step : 0;
            inside = inside && in;
        }
        if (low < high && inside && step == 1) {
            tilewright_block_interleave(lines, high - low, put + 4 * low);
        } else if (low < high) {
            tilewright_interleave(lines, steps, high - low, put + 4 * low, 4);
        }
    }
}

/* Adds to slopes[result][lane] what `count` elements of four lanes of x, side by side, make with that of every result. */
TILEWRIGHT_FLOAT void tilewright_descend_rows(const tilewright_product *p, const float *gathered, const float *y, int count,
                                              float *slopes)
{
    const int channel = p->y.channel;
    for (int left = p->results; left > 0; left -= 4, y += 4 * channel, slopes += 16) {
        const float *lines[4];
        lines[0] = y;
        lines[1] = lines[0] + (left > 1 ? channel : 0);
        lines[2] = lines[1] + (left > 2 ? channel : 0);
        lines[3] = lines[2] + (left > 3 ? channel : 0);
        tilewright_block_rows(lines, gathered, 4, count, slopes);
    }
}

/* Adds to slopes[result][lane] what `count` elements of four lanes of x make with the gradient of every result. */
TILEWRIGHT_FLOAT void tilewright_descend_dots(const tilewright_product *p, const float *const *x, const float *y, int x_step,
                                              int y_step, int count, float *slopes)
{
    const int beside = x_step == 1 && y_step == 1, channel = p->y.channel;
    for (int left = p->results; left > 0; left -= 4, y += 4 * channel, slopes += 16) {
        const float *lines[4];
        lines[0] = y;
        lines[1] = lines[0] + (left > 1 ? channel : 0);
        lines[2] = lines[1] + (left > 2 ? channel : 0);
        lines[3] = lines[2] + (left > 3 ? channel : 0);
        if (beside) {
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
TILEWRIGHT_FLOAT void tilewright_descend_slopes(const tilewright_descent *d, const tilewright_product *p,
                                      const tilewright_descent_term *t, const int *channels, const int *taps,
                                      float *slopes)
{
    const float *const y = t->y + channels[0] / p->channels * p->results * p->y.channel;
    const tilewright_meeting m = tilewright_meet(p, taps[0]);
    tilewright_zeros(slopes, (p->results + 3) / 4 * 16);
    for (int image = 0; image < p->images; image++) {
        const float *x[4];
        for (int lane = 0; lane < 4; lane++) {
            x[lane] = d->x + image * p->x.image + channels[lane] * p->x.channel;
        }
        for (int row = 0; t->rows_at_once && row < p->outs[0]; row += t->rows_at_once) {
            const int rows = p->outs[0] - row < t->rows_at_once ? p->outs[0] - row : t->rows_at_once;
            tilewright_descend_gather(p, x, taps, row, rows, d->gathered);
            tilewright_descend_rows(p, d->gathered, y + image * p->y.image + row * p->y.row, rows * p->outs[1], slopes);
        }
        for (int row = 0; !t->rows_at_once && row < m.rows; row++) {
            const int begin = m.x_start + row * m.x.row;
            const float *const from[4] = {x[0] + begin, x[1] + begin, x[2] + begin, x[3] + begin};
            tilewright_descend_dots(p, from, y + m.y_start + image * p->y.image + row * m.y.row, m.x.column, m.y.column,
                                    m.columns, slopes);
        }
    }
}

/* The weights of one channel at a tap move by their slopes, of which they take the places. */
TILEWRIGHT_FLOAT void tilewright_descend_lane(const tilewright_descent *d, const tilewright_descent_term *t, int results,
                                              const float *old, const float *from, float *to, float *slope)
{
    const int old_step = t->at_w.result, from_step = t->at_target.result, to_step = t->at_next.result;
    const float rate = d->rate, decay = d->decay;
    const int same = from == old && decay == 1.0f;
    for (; same && results > 1; results -= 2, slope += 8) {
        const float first = *old, second = old[old_step];
        old += 2 * old_step;
        *to = TILEWRIGHT_MULTIPLY_ADD(rate, slope[0], first);
        to[to_step] = TILEWRIGHT_MULTIPLY_ADD(rate, slope[4], second);
        to += 2 * to_step;
        slope[0] = first, slope[4] = second;
    }
    from = same ? old : from;
    for (; results; results--, old += old_step, from += from_step, to += to_step, slope += 4) {
        const float moved = TILEWRIGHT_MULTIPLY_ADD(rate, *slope, decay * *from);
        *slope = *old;
        *to = moved;
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
            const int inside = own[lane] % p->channels, tap = place[lane];
            tilewright_descend_lane(d, t, p->results, t->w + tilewright_weight(&t->at_w, first, inside, p, tap),
                                    t->target + tilewright_weight(&t->at_target, first, inside, p, tap),
                                    t->next + tilewright_weight(&t->at_next, first, inside, p, tap), slopes + lane);
        }
    }
}
