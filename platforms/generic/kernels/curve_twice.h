/* The sigmoid of x / 2^13.58 in 2^-15, by lines between points 2^9 apart, which are in 2^-16. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_sigmoid16(const uint16_t *points, int32_t x)
{
    const int32_t size = x < 0 ? -x : x, at = size >> 9;
    int32_t line = 0x7fff << 10;
    if (at < 255) {
        line = ((int32_t)points[at] << 9) + (size & 511) * ((int32_t)points[at + 1] - points[at]);
    }
    return (x < 0 ? (1 << 25) - line + 511 : line + 512) >> 10;
}

/* Likewise its tanh, the sigmoid of twice as much. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_tanh16(const uint16_t *points, int32_t x)
{
    const int32_t size = x < 0 ? -x : x, at = size >> 8;
    int32_t line = 0xffff << 8;
    if (at < 255) {
        line = ((int32_t)points[at] << 8) + (size & 255) * ((int32_t)points[at + 1] - points[at]);
    }
    return (x < 0 ? (1 << 23) - line + 127 : line - (1 << 23) + 128) >> 8;
}
