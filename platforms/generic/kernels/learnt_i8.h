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
