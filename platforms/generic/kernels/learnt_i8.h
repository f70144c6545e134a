/* Products on codes with weights of the run time, as the file has them: four results of two pixels at a time. */
typedef struct {
    int result, channel, row, column; /* elements from one weight to the next */
} tilewright_learnt_weights;
typedef struct {
    const int8_t *x, *w;
    int8_t *aside;  /* weights of four results, [tap][channel][result] */
    int32_t *taken; /* what their sums are too large by at each tap, since codes are summed with their zero point */
    int32_t zero;
    int depthwise;
    tilewright_learnt_weights at;
} tilewright_learnt;

/* Weights of up to four results from `first` on side by side; of a depthwise layer those of four channels. */
static void tilewright_learnt_aside(const tilewright_product *p, const tilewright_learnt *l, int first, int count)
{
    int8_t *put = l->aside;
    for (int tap = 0; tap < p->kernel[0] * p->kernel[1]; tap++) {
        const int8_t *const from = l->w + tap / p->kernel[1] * l->at.row + tap % p->kernel[1] * l->at.column;
        int32_t *const taken = l->taken + 4 * tap;
        taken[0] = taken[1] = taken[2] = taken[3] = 0;
        for (int c = 0; c < p->channels; c++, put += 4) {
            for (int j = 0; j < 4; j++) {
                put[j] = j < count ? from[(first + j) * l->at.result + c * l->at.channel] : (int8_t)0;
                taken[j] += put[j] * l->zero;
            }
        }
    }
}

static void tilewright_learnt_two(const int8_t *w, const int8_t *x, int apart, int step, int channels, int32_t *sums)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3], s4 = sums[4], s5 = sums[5], s6 = sums[6], s7 = sums[7];
    for (int c = 0; c < channels; c++, w += 4, x += step) {
        const int32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], x0 = x[0], x1 = x[apart];
        s0 += w0 * x0, s1 += w1 * x0, s2 += w2 * x0, s3 += w3 * x0;
        s4 += w0 * x1, s5 += w1 * x1, s6 += w2 * x1, s7 += w3 * x1;
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3, sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
}

static void tilewright_learnt_one(const int8_t *w, const int8_t *x, int step, int channels, int32_t *sums)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (int c = 0; c < channels; c++, w += 4, x += step) {
        const int32_t x0 = *x;
        s0 += w[0] * x0, s1 += w[1] * x0, s2 += w[2] * x0, s3 += w[3] * x0;
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

/* The first tap of a result along an axis that lies on the operand, and the one behind the last. */
static void tilewright_learnt_reach(const tilewright_product *p, int axis, int out, int *low, int *high)
{
    const int start = out * p->stride[axis] - p->begin[axis], dilation = p->dilation[axis];
    const int last = p->size[axis] - 1 - start, behind = last < 0 ? 0 : last / dilation + 1;
    *low = start < 0 ? (dilation - 1 - start) / dilation : 0;
    *high = behind < p->kernel[axis] ? behind : p->kernel[axis];
    *low = *low < *high ? *low : *high;
}

/* The sums of four results of a pixel, and of its neighbour where the same taps meet it: how many pixels it were. */
static int tilewright_learnt_sums(const tilewright_product *p, const tilewright_learnt *l, int image, int group, int row, int column, int32_t *sums)
{
    const int8_t *const x = l->x + image * p->x.image + group * p->channels * p->x.channel;
    int top, bottom, left, right, other_left = 0, other_right = -1, two;
    for (int at = 0; at < 8; at++) {
        sums[at] = 0;
    }
    tilewright_learnt_reach(p, 0, row, &top, &bottom);
    tilewright_learnt_reach(p, 1, column, &left, &right);
    if (column + 1 < p->outs[1] && !l->depthwise) {
        tilewright_learnt_reach(p, 1, column + 1, &other_left, &other_right);
    }
    two = other_left == left && other_right == right;
    for (int kh = top; kh < bottom; kh++) {
        const int8_t *const line = x + (row * p->stride[0] - p->begin[0] + kh * p->dilation[0]) * p->x.row;
        for (int kw = left; kw < right; kw++) {
            const int tap = kh * p->kernel[1] + kw;
            const int8_t *const from = line + (column * p->stride[1] - p->begin[1] + kw * p->dilation[1]) * p->x.column;
            const int8_t *const w = l->aside + 4 * tap * p->channels;
            for (int j = 0; j < 4; j++) {
                sums[j] -= l->taken[4 * tap + j];
                sums[4 + j] -= l->taken[4 * tap + j];
            }
            if (l->depthwise) {
                sums[0] += from[0] * w[0];
                sums[1] += from[l->depthwise > 1 ? p->x.channel : 0] * w[1];
                sums[2] += from[l->depthwise > 2 ? 2 * p->x.channel : 0] * w[2];
                sums[3] += from[l->depthwise > 3 ? 3 * p->x.channel : 0] * w[3];
            } else if (two) {
                tilewright_learnt_two(w, from, p->stride[1] * p->x.column, p->x.channel, p->channels, sums);
            } else {
                tilewright_learnt_one(w, from, p->x.channel, p->channels, sums);
            }
        }
    }
    return 1 + two;
}
