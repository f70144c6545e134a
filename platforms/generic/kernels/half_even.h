/* value / 2^exponent rounded to the nearest integer, ties to the even one. */
#if defined(__GNUC__)
__attribute__((unused)) /* a network may need only the other one */
#endif
static inline int64_t tilewright_divide_half_even(int64_t value, int exponent)
{
    if (exponent == 0) {
        return value;
    }
    const int64_t floor = value >> exponent;
    const int64_t rest = value - floor * ((int64_t)1 << exponent);
    const int64_t half = (int64_t)1 << (exponent - 1);
    return floor + (rest > half || (rest == half && (floor & 1) != 0) ? 1 : 0);
}

/* value / divisor rounded to the nearest integer, ties to the even one; the divisor is positive. */
#if defined(__GNUC__)
__attribute__((unused)) /* a network may need only the other one */
#endif
static inline int64_t tilewright_quotient_half_even(int64_t value, int64_t divisor)
{
    const int64_t cut = value / divisor;
    const int64_t floor = value - cut * divisor < 0 ? cut - 1 : cut;
    const int64_t rest = value - floor * divisor;
    return floor + (rest > divisor - rest || (rest == divisor - rest && (floor & 1) != 0) ? 1 : 0);
}
