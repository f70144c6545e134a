/* Sums of whole numbers of floats, and of their squares. */

/* The square of a whole number of 30 bits, without its last 14 bits. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint64_t tilewright_whole_square(uint32_t bits, uint32_t top)
{
    const uint32_t exponent = bits >> 23 & 255u, down = top - exponent;
    const uint32_t size = down < 31u ? ((bits & 0x7FFFFFu) | 0x800000u) << 6 >> down : 0u;
    return ((uint64_t)size * size) >> 14;
}

/* A sum over 2^bits times a share, which is below 2^31. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int64_t tilewright_whole_share(int64_t total, uint32_t bits, uint32_t share)
{
    const uint64_t size = total < 0 ? (uint64_t)0 - (uint64_t)total : (uint64_t)total;
    const uint64_t part = (size >> bits) * share;
    return total < 0 ? -(int64_t)part : (int64_t)part;
}
