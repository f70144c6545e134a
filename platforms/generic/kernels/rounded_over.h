/* x / 2^shift, ties away from zero. */
static inline int32_t tilewright_rounded_over(int64_t x, int shift)
{
    const int64_t half = shift == 0 ? 0 : INT64_C(1) << (shift - 1);
    return (int32_t)((x + half - (x < 0 && shift > 0 ? 1 : 0)) >> shift);
}
