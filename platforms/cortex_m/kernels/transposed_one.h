/* A transposed convolution of floats with one result of a pixel: its products with the inputs where they lie. It brings
 * tilewright_phase_add. */

/* Adds the inputs of a tap for four pixels, each times its weight, to the sums of one channel; the weights behind them. */
static inline __attribute__((always_inline)) const float *tilewright_phase_add(
    const float *const *taps, const float *weights, int inputs, float *sums)
{
    const float *x0 = taps[0], *x1 = taps[1], *x2 = taps[2], *x3 = taps[3];
    float s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    const float *const end = weights + inputs;
    while (weights != end) {
        const float weight = *weights++;
        s0 = TILEWRIGHT_MULTIPLY_ADD(weight, *x0++, s0);
        s1 = TILEWRIGHT_MULTIPLY_ADD(weight, *x1++, s1);
        s2 = TILEWRIGHT_MULTIPLY_ADD(weight, *x2++, s2);
        s3 = TILEWRIGHT_MULTIPLY_ADD(weight, *x3++, s3);
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
    return weights;
}
