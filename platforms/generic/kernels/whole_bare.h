/* Floats that become whole numbers as they are multiplied. */

/* The exponent of the largest float of a line, or of `before` other ones. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_whole_top(uint32_t before, const float *from, int length, int step)
{
    uint32_t largest = before << 24;
    for (int i = 0; i < length; i++) {
        const uint32_t doubled = tilewright_whole_bits(from + i * step) << 1;
        largest = doubled > largest ? doubled : largest;
    }
    return largest >> 24;
}

static inline uint32_t tilewright_whole_size(uint32_t word, uint32_t top, uint32_t bits)
{
    const uint32_t down = top - (word >> 23 & 255u);
    return down < 31u ? ((word & 0x7FFFFFu) | 0x800000u) << (bits - 24u) >> down : 0u;
}
