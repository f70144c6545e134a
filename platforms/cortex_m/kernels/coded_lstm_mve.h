/* Four rows of eight-bit weights, eight inputs of each in turn, times codes of 16 bits; the weights behind them. */
TILEWRIGHT_MVE_INTO const int8_t *tilewright_four_rows(const int8_t *w, const int16_t *x, int depth, int32_t *sums)
{
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int i = 0; i < depth; i += 8) {
        const int16x8_t codes = vldrhq_s16(x + i);
        s0 = vmladavaq_s16(s0, codes, vldrbq_s16(w));
        s1 = vmladavaq_s16(s1, codes, vldrbq_s16(w + 8));
        s2 = vmladavaq_s16(s2, codes, vldrbq_s16(w + 16));
        s3 = vmladavaq_s16(s3, codes, vldrbq_s16(w + 24));
        w += 32;
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
    return w;
}

/* Those of a unit: four sums over the input, then four over the state behind it. */
TILEWRIGHT_MVE const int8_t *tilewright_unit(const int8_t *w, const int16_t *x, int inputs, int states, int32_t *sums)
{
    w = tilewright_four_rows(w, x, inputs, sums);
    return tilewright_four_rows(w, x + inputs, states, sums + 4);
}
