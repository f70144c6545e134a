/* What was gathered, in the order in which bytes of weights are taken apart: 0, 2, 1, 3. */
static void tilewright_learnt_order(const tilewright_learnt *l, int16_t *gathered)
{
    for (int i = 0; l->step == 1 && l->runs == 1 && i + 3 < l->run; i += 4) {
        const int16_t second = gathered[i + 1];
        gathered[i + 1] = gathered[i + 2];
        gathered[i + 2] = second;
    }
}

/* The sums of two rows of weights, of two pixels: [pixel][row]. */
TILEWRIGHT_ONCE void tilewright_learnt_pairs(const int16_t *a, const int16_t *b, const int8_t *w, const int8_t *v, int run, int32_t *sums)
{
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i = 0;
    for (; i + 3 < run; i += 4) {
        const uint32_t a0 = tilewright_load(a + i), a1 = tilewright_load(a + i + 2);
        const uint32_t b0 = tilewright_load(b + i), b1 = tilewright_load(b + i + 2);
        const uint32_t first = tilewright_load(w + i), second = tilewright_load(v + i);
        const uint32_t w0 = tilewright_even(first), w1 = tilewright_odd(first);
        const uint32_t v0 = tilewright_even(second), v1 = tilewright_odd(second);
        s0 = tilewright_smlad(a0, w0, s0), s1 = tilewright_smlad(a0, v0, s1);
        s2 = tilewright_smlad(b0, w0, s2), s3 = tilewright_smlad(b0, v0, s3);
        s0 = tilewright_smlad(a1, w1, s0), s1 = tilewright_smlad(a1, v1, s1);
        s2 = tilewright_smlad(b1, w1, s2), s3 = tilewright_smlad(b1, v1, s3);
    }
    for (; i < run; i++) {
        s0 += a[i] * w[i], s1 += a[i] * v[i], s2 += b[i] * w[i], s3 += b[i] * v[i];
    }
    sums[0] = s0, sums[1] = s1, sums[4] = s2, sums[5] = s3;
}

/* The sums of four results of two pixels; of fewer results the last one again. */
static void tilewright_learnt_sums(const tilewright_learnt *l, int first, int count, int32_t *sums)
{
    const int16_t *a = l->gathered, *b = a + l->depth;
    const int8_t *w[4];
    w[0] = l->w + first * l->row;
    for (int j = 1; j < 4; j++) {
        w[j] = w[j - 1] + (j < count ? l->row : 0);
    }
    if (l->step == 1 && l->runs == 1) {
        tilewright_learnt_pairs(a, b, w[0], w[1], l->run, sums);
        tilewright_learnt_pairs(a, b, w[2], w[3], l->run, sums + 2);
        return;
    }
    for (int j = 0; j < 4; j++) {
        int32_t s0 = 0, s1 = 0;
        for (int tap = 0; tap < l->runs; tap++) {
            const int8_t *v = w[j] + tap / l->width * l->down + tap % l->width * l->right;
            const int16_t *c = a + tap * l->run, *d = b + tap * l->run;
            for (int i = 0; i < l->run; i++, v += l->step) {
                s0 += *v * c[i], s1 += *v * d[i];
            }
        }
        sums[j] = s0, sums[4 + j] = s1;
    }
}
