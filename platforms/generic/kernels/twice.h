/* sum * multiplier / 2^(31 + right), rounded to whole numbers twice: by 31 bits, halves up, then by `right`, halves
   away from zero. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_rounded_twice(int32_t sum, int64_t multiplier, int right)
{
    const int64_t half = right == 0 ? 0 : INT64_C(1) << 30;
    return (int32_t)((sum * multiplier + (INT64_C(1) << (30 + right)) + (sum < 0 ? -half : half)) >> (31 + right));
}

/* The square of a difference of less than 2^15.5. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_squared(int32_t difference)
{
    return difference * difference;
}
