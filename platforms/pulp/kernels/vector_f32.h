/* The weights of four channels of a matrix move by what each channel's `steps` makes of the results' gradient; what the old ones
 * give to the gradient of the channels is added to `sums`. Weights of channels are `lane` elements apart, those of results
 * `step`. */
TILEWRIGHT_IN_ORDER void tilewright_vector_moved(const float *w, const float *target, float *next, int lane, int step,
                                                 const float *dy, int results, const float *steps, float decay, float *sums)
{
    const float *w0 = w, *w1 = w0 + lane, *w2 = w1 + lane, *w3 = w2 + lane;
    const float *t0 = target, *t1 = t0 + lane, *t2 = t1 + lane, *t3 = t2 + lane;
    float *n0 = next, *n1 = n0 + lane, *n2 = n1 + lane, *n3 = n2 + lane;
    const float b0 = steps[0], b1 = steps[1], b2 = steps[2], b3 = steps[3];
    const int apart = decay != 1.0f || target != w;
    float s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (; results > 0; results--) {
        const float slope = *dy++;
        const float a0 = *w0, a1 = *w1, a2 = *w2, a3 = *w3;
        float m0 = a0, m1 = a1, m2 = a2, m3 = a3;
        if (apart) {
            m0 = decay * *t0, m1 = decay * *t1, m2 = decay * *t2, m3 = decay * *t3;
            t0 += step, t1 += step, t2 += step, t3 += step;
        }
        TILEWRIGHT_TIMES(s0, a0, slope) w0 += step;
        TILEWRIGHT_TIMES(m0, b0, slope) w1 += step;
        TILEWRIGHT_TIMES(s1, a1, slope) *n0 = m0;
        TILEWRIGHT_TIMES(m1, b1, slope) n0 += step;
        TILEWRIGHT_TIMES(s2, a2, slope) *n1 = m1;
        TILEWRIGHT_TIMES(m2, b2, slope) n1 += step;
        TILEWRIGHT_TIMES(s3, a3, slope) *n2 = m2;
        TILEWRIGHT_TIMES(m3, b3, slope) n2 += step;
        w2 += step, w3 += step;
        *n3 = m3;
        n3 += step;
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}
