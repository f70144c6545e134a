/* The sums of up to four results of a single row on codes, with weights of the run time. */
static void tilewright_learnt_row(const int8_t *x, const int8_t *w, int x_step, int result, int channel, int channels,
                                  int32_t zero, int count, int32_t *sums)
{
    const int8_t *const w1 = w + (count > 1 ? result : 0), *const w2 = w1 + (count > 2 ? result : 0);
    const int8_t *const w3 = w2 + (count > 3 ? result : 0);
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int c = 0, at = 0; c < channels; c++, at += channel, x += x_step) {
        const int32_t value = *x - zero;
        s0 += w[at] * value, s1 += w1[at] * value, s2 += w2[at] * value, s3 += w3[at] * value;
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}
