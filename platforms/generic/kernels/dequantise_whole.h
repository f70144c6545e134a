/* The nearest float to a whole number of at most eight bits beside its sign times a scale, given by the 24 bits of its
 * mantissa and its exponent. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* its numbers are constants of a layer */
#endif
static inline uint32_t tilewright_whole_scaled(int32_t number, uint32_t mantissa, uint32_t top)
{
    const uint32_t parts = number < 0 ? 0u - (uint32_t)number : (uint32_t)number, sign = number < 0 ? 0x80000000u : 0u;
    uint32_t size = parts * mantissa, power = top + 7u, word = 0;
    if (size != 0u) {
        if (size >> 24 == 0u) {
            size <<= 8;
            power -= 8u;
        }
        if (size >> 28 == 0u) {
            size <<= 4;
            power -= 4u;
        }
        if (size >> 30 == 0u) {
            size <<= 2;
            power -= 2u;
        }
        if (size >> 31 == 0u) {
            size <<= 1;
            power -= 1u;
        }
        /* the bit above the 23 adds one to the exponent, and so does a carry */
        const uint32_t kept = size >> 8, rest = (size & 255u) + (kept & 1u);
        word = sign + (power << 23) + kept + (rest > 128u ? 1u : 0u);
    }
    return word;
}
