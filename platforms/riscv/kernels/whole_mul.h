/* A product of floats, rounded as IEEE 754 rounds it: in whole numbers where both and the product are normal numbers. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* else the compiler makes calls of it, as of the library's */
#endif
static inline float tilewright_whole_multiplied(float a, float b)
{
    const uint32_t left = tilewright_whole_bits(&a), right = tilewright_whole_bits(&b);
    const uint32_t of_left = left >> 23 & 255u, of_right = right >> 23 & 255u;
    const uint32_t first = left << 8 | 0x80000000u, second = right << 8 | 0x80000000u;
    const uint64_t product = (uint64_t)first * second;
    const uint32_t high = (uint32_t)(product >> 32), low = (uint32_t)product;
    const uint32_t shorter = ~high >> 31, size = (high << shorter) | (low != 0u ? 1u : 0u);
    const uint32_t power = of_left + of_right - 127u - shorter; /* less one: the bit above the 23 adds it */
    float result;
    if (of_left - 1u < 254u && of_right - 1u < 254u && power < 254u) {
        const uint32_t kept = size >> 8, rest = (size & 255u) + (kept & 1u);
        const uint32_t bits = ((left ^ right) & 0x80000000u) + (power << 23) + kept + (rest > 128u ? 1u : 0u);
        const int32_t word = (int32_t)bits;
        tilewright_whole_store(&result, word);
    } else if ((left << 1 == 0u && of_right != 255u) || (right << 1 == 0u && of_left != 255u)) {
        const uint32_t sign = (left ^ right) & 0x80000000u;
        const int32_t word = (int32_t)sign;
        tilewright_whole_store(&result, word);
    } else {
        result = a * b;
    }
    return result;
}
