/* What layers on codes that are taken back in integers share: their weights' step, and how sums become codes. */
enum { TILEWRIGHT_HEAVIEST = 127 * 256 + 127 }; /* a weight with what lies behind it */

typedef struct {
    int outer, channel, row, column; /* elements from one to the next: of images or results, channels, rows, columns */
} tilewright_code_steps;
typedef struct {
    int16_t count, tap, tap_step, at, at_step; /* taps that meet a row or column of the operand, and where */
} tilewright_code_reach;
typedef struct {
    const int8_t *x, *codes, *w, *rest; /* rest is NULL where weights stay */
    int8_t *dx, *next, *next_rest;      /* dx is NULL where no gradient is asked for */
    const int16_t *shares;
    const int32_t *rates;
    int32_t zero, low, high, shift, places; /* the gradient passes between codes low and high */
    int32_t before, share_bits;             /* slopes are taken times 2^before; weights are shared in units of 2^-bits */
    uint32_t back_start, step_start;
    tilewright_code_steps at_w, at_rest, at_next, at_next_rest;
    tilewright_code_steps place; /* the number of an element, by which numbers are drawn */
    int16_t *aside; /* weights of four channels, tap by tap */
    int32_t *slopes;
    int16_t *gathered; /* of four lanes, for as many pixels as are summed at once */
    int at_once;
    tilewright_code_reach *columns;
    uint32_t seen; /* bits of all sums of the gradient */
} tilewright_code_descent;

TILEWRIGHT_SOME int tilewright_code_place(const tilewright_code_steps *at, int result, int channel, int tap, int columns)
{
    return result * at->outer + channel * at->channel + tap / columns * at->row + tap % columns * at->column;
}

/* A weight as it counts in the gradient of the operand. */
TILEWRIGHT_WHOLE_STEP int32_t tilewright_code_shared(const tilewright_code_descent *d, int result, int32_t weight)
{
    if (d->shares == NULL) {
        return weight;
    }
    return tilewright_down(weight * d->shares[result] + (1 << (13 - d->share_bits)), 14 - d->share_bits);
}

/* A weight with what lies behind it, moved by a step, as both again. */
TILEWRIGHT_WHOLE_STEP void tilewright_code_put_weight(int32_t whole, int32_t step, int8_t *next, int8_t *next_rest)
{
    const int32_t moved = tilewright_within(whole - step, -TILEWRIGHT_HEAVIEST, TILEWRIGHT_HEAVIEST);
    const uint32_t above = (uint32_t)(moved + 32896) >> 8; /* 128 more than the weight */
    *next = (int8_t)((int32_t)above - 128);
    *next_rest = (int8_t)(moved + 32768 - (int32_t)(above << 8));
}

/* A weight moves by its slope, or stays with what lies behind it. */
TILEWRIGHT_WHOLE_STEP void tilewright_code_move(const tilewright_code_descent *d, int result, int32_t slope, int32_t weight, int32_t rest,
                                          uint32_t place, int8_t *next, int8_t *next_rest)
{
    if (slope == 0) {
        *next = (int8_t)weight;
        *next_rest = (int8_t)rest;
    } else {
        int32_t step = tilewright_upper((int64_t)(slope * (1 << d->before)) * d->rates[result]);
        if (d->places > 30) {
            step = tilewright_dithered(step, d->places, tilewright_drawn(d->step_start, place));
        } else if (d->places > 0) {
            const uint32_t drawn = tilewright_drawn(d->step_start, place) >> (uint32_t)(32 - d->places);
            const uint32_t above = ((uint32_t)(step + (1 << 30)) + drawn) >> (uint32_t)d->places;
            step = (int32_t)above - (int32_t)((1u << 30) >> (uint32_t)d->places);
        } else {
            const int32_t left = d->places > -31 ? -d->places : 31;
            const int32_t limit = (2 * TILEWRIGHT_HEAVIEST) >> left;
            step = tilewright_within(step, -limit, limit) * (left < 17 ? 1 << left : 0);
        }
        tilewright_code_put_weight(weight * 256 + rest, step, next, next_rest);
    }
}

/* The gradient of a channel of a pixel over the pixel itself. */
TILEWRIGHT_SOME void tilewright_code_put(tilewright_code_descent *d, int32_t sum, int at, uint32_t place)
{
    int32_t code = 0;
    if (d->x[at] > d->low && d->x[at] < d->high) {
        d->seen |= sum < 0 ? ~(uint32_t)sum : (uint32_t)sum;
        code = tilewright_within(tilewright_dithered(sum, d->shift, tilewright_drawn(d->back_start, place)), -127, 127);
    }
    d->dx[at] = (int8_t)code;
}

/* How wide the gradient is to be in the next call. */
TILEWRIGHT_SOME int32_t tilewright_code_next_shift(int32_t shift, uint32_t seen)
{
    const int32_t wanted = tilewright_length(seen) - 6;
    if (seen == 0u) {
        return shift;
    }
    return tilewright_within(wanted > shift ? wanted : wanted > shift - 1 ? wanted : shift - 1, 0, 24);
}
