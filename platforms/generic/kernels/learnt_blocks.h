/* What was gathered, in the order in which it is summed. */
static void tilewright_learnt_order(const tilewright_learnt *l, int16_t *gathered)
{
    (void)l;
    (void)gathered;
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
