/* Reciprocals of numbers in fixed point. */

/* The product of two numbers, 2^30 for 1. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_fixed_times(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 30);
}

/* 2^60 over a number from 2^30 to 2^31, within 2^-28 of itself. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_fixed_reciprocal(uint32_t value)
{
    const uint32_t first = (0x80000000u / (value >> 15)) << 14;
    const int32_t rest = 0x40000000 - (int32_t)tilewright_fixed_times(value, first);
    const int32_t step = tilewright_fixed_high((int32_t)first, rest * 4);
    return first + (uint32_t)step;
}
