/* The upper 32 bits of a product. C leaves open what a shift to the right makes of a negative value. */
#if defined(__GNUC__)
__attribute__((always_inline, unused)) /* a network may need only some of these */
#endif
static inline int32_t tilewright_upper(int64_t product)
{
    const uint64_t bits = (uint64_t)product;
    const uint32_t upper = (uint32_t)(bits >> 32);
    return (int32_t)upper;
}

/* value / 2^bits, rounded down, for a literal of at most 30 bits, which compilers make one shift of. */
#if defined(__GNUC__)
__attribute__((always_inline, unused))
#endif
static inline int32_t tilewright_floor(int32_t value, uint32_t bits)
{
    const uint32_t unit = (uint32_t)1 << bits;
    const uint32_t rest = (uint32_t)value & (unit - 1u);
    const int32_t divisor = (int32_t)unit;
    return (value - (int32_t)rest) / divisor;
}

/* A bit of a value, 0 or 1. */
#if defined(__GNUC__)
__attribute__((always_inline, unused))
#endif
static inline int32_t tilewright_bit(int32_t value, uint32_t number)
{
    const uint32_t bits = (uint32_t)value;
    const uint32_t bit = (bits >> number) & 1u;
    return (int32_t)bit;
}
