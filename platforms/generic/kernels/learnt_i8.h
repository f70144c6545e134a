/* Products on codes with weights of the run time, as the file has them: what two pixels read is gathered, less the zero
 * point, and meets four rows of weights. */
typedef struct {
    const int8_t *x, *w;
    int16_t *gathered; /* of two pixels, one behind the other */
    int32_t zero;
    int depth, row;    /* what a pixel reads; weights from one result to the next */
    int runs, run, step, width, down, right; /* what it reads in runs, weights from one input of these to the next, and from one
                                       * row and column of the window to the next where a run is the channels of a tap */
} tilewright_learnt;

/* What a pixel reads of a group, [channel][tap] or in runs [tap][channel]; zeros outside. */
static void tilewright_learnt_gather(const tilewright_product *p, const tilewright_learnt *l, int image, int group, int pixel, int16_t *put)
{
    const int8_t *const x = l->x + image * p->x.image + group * p->channels * p->x.channel;
    const int taps = p->kernel[0] * p->kernel[1], step = p->x.channel, apart = l->runs > 1 ? 1 : taps;
    const int top = pixel / p->outs[1] * p->stride[0] - p->begin[0], left = pixel % p->outs[1] * p->stride[1] - p->begin[1];
    for (int tap = 0; tap < taps; tap++) {
        const int row = top + tap / p->kernel[1] * p->dilation[0], column = left + tap % p->kernel[1] * p->dilation[1];
        int16_t *to = put + tap * (l->runs > 1 ? l->run : 1);
        if (row >= 0 && row < p->size[0] && column >= 0 && column < p->size[1]) {
            const int8_t *from = x + row * p->x.row + column * p->x.column;
            for (int c = 0; c < p->channels; c++, from += step, to += apart) {
                *to = (int16_t)(*from - l->zero);
            }
        } else {
            for (int c = 0; c < p->channels; c++, to += apart) {
                *to = 0;
            }
        }
    }
}

/* The sums of four results of two pixels; of fewer results the last one again. */
static void tilewright_learnt_sums(const tilewright_learnt *l, int first, int count, int32_t *sums)
{
    const int16_t *a = l->gathered, *b = a + l->depth;
    const int8_t *w0 = l->w + first * l->row, *w1 = w0 + (count > 1 ? l->row : 0);
    const int8_t *w2 = w1 + (count > 2 ? l->row : 0), *w3 = w2 + (count > 3 ? l->row : 0);
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (int tap = 0; tap < l->runs; tap++, a += l->run, b += l->run) {
        int at = tap / l->width * l->down + tap % l->width * l->right;
        for (int i = 0; i < l->run; i++, at += l->step) {
            const int32_t x0 = a[i], x1 = b[i], v0 = w0[at], v1 = w1[at], v2 = w2[at], v3 = w3[at];
            s0 += v0 * x0, s1 += v1 * x0, s2 += v2 * x0, s3 += v3 * x0;
            s4 += v0 * x1, s5 += v1 * x1, s6 += v2 * x1, s7 += v3 * x1;
        }
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3, sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
}
