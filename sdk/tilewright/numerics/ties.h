/* value / 2^bits, rounded to the nearest integer, ties to the even one, or to the odd one where `odd` is 1. */
#if defined(__GNUC__)
__attribute__((always_inline, unused))
#endif
static inline int32_t tilewright_tied(int32_t value, uint32_t bits, int32_t odd)
{
    const uint32_t one = (uint32_t)1 << (bits - 1u);
    const int32_t half = (int32_t)one;
    const int32_t up = tilewright_bit(value + (2 * half * odd), bits);
    return tilewright_floor(value + (half - 1) + up, bits);
}
