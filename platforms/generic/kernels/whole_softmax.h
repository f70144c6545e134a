/* The largest exponent of the finite elements of a row, 1 at least; 255 where one is infinite or no number, 0 where all
 * are minus infinity. */
static inline uint32_t tilewright_softmax_top(const float *row, int length)
{
    uint32_t top = 0;
    for (int i = 0; i < length; i++) {
        const uint32_t bits = tilewright_whole_bits(row + i), exponent = bits >> 23 & 255u;
        if (bits != 0xFF800000u) {
            top = exponent > top ? exponent : top;
            top = top > 1u ? top : 1u;
        }
    }
    return top;
}
