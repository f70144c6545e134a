/* The upper 32 bits of a product of numbers in fixed point. */
#if defined(__GNUC__)
__attribute__((unused)) /* not all that is made of it is needed everywhere */
#endif
static inline int32_t tilewright_fixed_high(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;
    const uint64_t bits = (uint64_t)product;
    const uint32_t upper = (uint32_t)(bits >> 32);
    return (int32_t)upper;
}
