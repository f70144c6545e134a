/* Four rows of eight-bit weights, one behind the other, times codes of 16 bits; the weights behind them. */
static const int8_t *tilewright_four_rows(const int8_t *w, const int16_t *x, int depth, int32_t *sums)
{
    for (int row = 0; row < 4; row++) {
        int32_t sum = 0;
        for (int i = 0; i < depth; i++) {
            sum += (int32_t)w[i] * x[i];
        }
        sums[row] = sum;
        w += depth;
    }
    return w;
}

/* Those of a unit: four sums over the input, then four over the state behind it. */
static const int8_t *tilewright_unit(const int8_t *w, const int16_t *x, int inputs, int states, int32_t *sums)
{
    w = tilewright_four_rows(w, x, inputs, sums);
    return tilewright_four_rows(w, x + inputs, states, sums + 4);
}
