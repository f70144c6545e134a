/* Integer power modulo 2^64; a negative exponent truncates towards zero as 1 / base^-exponent. */
static inline uint64_t tilewright_power(int64_t base, int64_t exponent)
{
    if (exponent < 0) {
        return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? UINT64_MAX : 0;
    }
    uint64_t found = 1, factor = (uint64_t)base;
    for (; exponent > 0; exponent /= 2) {
        found = exponent % 2 != 0 ? found * factor : found;
        factor *= factor;
    }
    return found;
}
