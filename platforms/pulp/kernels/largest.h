/* The largest of some floats and `least`, which is above 0, as its bits; those of `mask` alone count. What is no number
 * is left out. */
static inline int32_t tilewright_largest(const float *x, int count, float least, uint32_t mask)
{
    int32_t floor, high;
    (void)memcpy(&floor, &least, sizeof floor);
    high = floor;
    for (int i = 0; i < count; i++) {
        high = tilewright_larger(high, (int32_t)(tilewright_word(x + i) & mask));
    }
    if (high > 0x7F800000) { /* floats that are numbers are ordered as their bits are */
        high = floor;
        for (int i = 0; i < count; i++) {
            const int32_t bits = (int32_t)(tilewright_word(x + i) & mask);
            high = bits > high && bits <= 0x7F800000 ? bits : high;
        }
    }
    return high;
}
