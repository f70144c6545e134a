/* The number itself, or 2^30 and -2^30 where it is further from zero: outside of all codes, and it fits 32 bits. */
#if defined(__GNUC__)
__attribute__((unused)) /* a network may need only one of the quotients */
#endif
static inline int64_t tilewright_within_30_bits(int64_t value)
{
    const int64_t limit = (int64_t)1 << 30;
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* value / 2^exponent rounded to the nearest integer, ties to the even one; within 30 bits. */
#if defined(__GNUC__)
__attribute__((unused)) /* a network may need only the other one */
#endif
static inline int64_t tilewright_divide_half_even(int64_t value, int32_t exponent)
{
    if (exponent == 0) {
        return tilewright_within_30_bits(value);
    }
    const int64_t floor = value >> exponent;
    const int64_t rest = value - floor * ((int64_t)1 << exponent);
    const int64_t half = (int64_t)1 << (exponent - 1);
    return tilewright_within_30_bits(floor + (rest > half || (rest == half && (floor & 1) != 0) ? 1 : 0));
}

/* value / divisor rounded to the nearest integer, ties to the even one; the divisor is positive. Within 30 bits. */
#if defined(__GNUC__)
__attribute__((unused)) /* a network may need only the other one */
#endif
static inline int64_t tilewright_quotient_half_even(int64_t value, int64_t divisor)
{
    const int64_t cut = value / divisor;
    const int64_t floor = value - cut * divisor < 0 ? cut - 1 : cut;
    const int64_t rest = value - floor * divisor;
    return tilewright_within_30_bits(floor + (rest > divisor - rest || (rest == divisor - rest && (floor & 1) != 0) ? 1 : 0));
}
