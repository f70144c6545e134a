/* The nearest code of sum * codes[4] / 2^(32 + codes[1]), of two as near the even one, before codes[0] is added. It is for
 * multipliers below 2^31, so that nothing leaves 64 bits. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_product_exact(int32_t sum, const int32_t *codes)
{
    const int32_t shift = codes[1];
    int64_t value = (int64_t)sum * codes[4];
    const int32_t odd = (int32_t)(value >> 32) >> shift & 1;
    value += ((int64_t)1 << (31 + shift)) - 1 + odd;
    return ((int32_t)(value >> 32) >> shift) + codes[0];
}
