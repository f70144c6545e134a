/* The largest exponent of the finite elements of a row, `step` apart, 1 at least; 255 where one is infinite or no number, 0 where all
 * are minus infinity. */
static inline uint32_t tilewright_softmax_top(const float *row, int length, int step)
{
    uint32_t top = 0;
    for (int i = 0; i < length; i++) {
        const uint32_t bits = tilewright_whole_bits(row + i * step), exponent = bits >> 23 & 255u;
        if (bits != 0xFF800000u) {
            top = exponent > top ? exponent : top;
            top = top > 1u ? top : 1u;
        }
    }
    return top;
}

/* The largest element of a row without one that is no number, as bits. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_softmax_largest(const float *row, int length, int step)
{
    uint32_t largest = 0;
    for (int i = 0; i < length; i++) {
        const uint32_t bits = tilewright_whole_bits(row + i * step), place = bits >> 31 != 0u ? ~bits : bits | 0x80000000u;
        largest = place > largest ? place : largest;
    }
    return largest >> 31 != 0u ? largest & 0x7FFFFFFFu : ~largest;
}

/* True where an element is 32 or more below the largest, so that its power is nothing: as masks make them. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline bool tilewright_softmax_far(uint32_t bits, uint32_t largest)
{
    const uint32_t exponent = bits >> 23 & 255u;
    return bits >> 31 != 0u && exponent >= 133u && (largest >> 31 == 0u || exponent >= (largest >> 23 & 255u) + 2u);
}

/* The largest exponent of the elements that are not far below the largest, 1 at least. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_softmax_near(const float *row, int length, int step, uint32_t largest)
{
    uint32_t top = 1;
    for (int i = 0; i < length; i++) {
        const uint32_t bits = tilewright_whole_bits(row + i * step), exponent = bits >> 23 & 255u;
        if (bits != 0xFF800000u && !tilewright_softmax_far(bits, largest)) {
            top = exponent > top ? exponent : top;
        }
    }
    return top;
}
