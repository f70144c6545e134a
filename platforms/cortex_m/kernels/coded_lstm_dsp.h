/* Four rows of weights times codes of 16 bits on cores with the DSP extension; the weights behind them. Two rows share
 * words of halves 256 * second + first: of each four inputs two words of the first two rows, then two of the others. What
 * both give together needs more than 32 bits, since a state has sixteen. It brings tilewright_unit: four sums over the
 * input, then four over the state behind it. */
#define TILEWRIGHT_NEXT_TWO(first, second, from) \
    __asm__ volatile("ldrd %0, %1, [%2], #8" : "=&r"(first), "=&r"(second), "+&r"(from) : : "memory")
#define TILEWRIGHT_BOTH(sum, a, b) __asm__("smlald %Q0, %R0, %1, %2" : "+r"(sum) : "r"(a), "r"(b))

#define TILEWRIGHT_FOUR_INPUTS \
    TILEWRIGHT_NEXT_TWO(x0, x1, x); \
    TILEWRIGHT_NEXT_TWO(w0, w1, w); \
    first = tilewright_smlad(x0, tilewright_even(w0), first); \
    TILEWRIGHT_BOTH(second, x0, w0); \
    first = tilewright_smlad(x1, tilewright_even(w1), first); \
    TILEWRIGHT_BOTH(second, x1, w1); \
    TILEWRIGHT_NEXT_TWO(w0, w1, w); \
    third = tilewright_smlad(x0, tilewright_even(w0), third); \
    TILEWRIGHT_BOTH(fourth, x0, w0); \
    third = tilewright_smlad(x1, tilewright_even(w1), third); \
    TILEWRIGHT_BOTH(fourth, x1, w1);

TILEWRIGHT_INTO const uint32_t *tilewright_four_rows(const uint32_t *w, const int16_t *x, int depth, int32_t *sums)
{
    int32_t first = 0, third = 0;
    int64_t second = 0, fourth = 0;
    uint32_t x0, x1, w0, w1;
    const int16_t *const end = x + depth;
    if (depth & 4) {
        TILEWRIGHT_FOUR_INPUTS
    }
    while (x != end) {
        TILEWRIGHT_FOUR_INPUTS
        TILEWRIGHT_FOUR_INPUTS
    }
    sums[0] = first;
    sums[1] = (int32_t)((second - first) >> 8);
    sums[2] = third;
    sums[3] = (int32_t)((fourth - third) >> 8);
    return w;
}

TILEWRIGHT_ONCE const uint32_t *tilewright_unit(const uint32_t *w, const int16_t *x, int inputs, int states, int32_t *sums)
{
    w = tilewright_four_rows(w, x, inputs, sums);
    return tilewright_four_rows(w, x + inputs, states, sums + 4);
}
