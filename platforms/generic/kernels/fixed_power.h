/* 2^30 times 2 to the power of -steps / 2^24, for fewer than 2^29 steps; a polynomial within 3e-9 of it. */
static inline int32_t tilewright_fixed_power(uint32_t steps)
{
    const int32_t rest = (int32_t)((steps & 0xFFFFFFu) << 7);
    int32_t power = -1369601 + 2 * tilewright_fixed_high(117391, rest);
    power = 10286296 + 2 * tilewright_fixed_high(power, rest);
    power = -59582935 + 2 * tilewright_fixed_high(power, rest);
    power = 257938912 + 2 * tilewright_fixed_high(power, rest);
    power = -744260973 + 2 * tilewright_fixed_high(power, rest);
    power = 1073741824 + 2 * tilewright_fixed_high(power, rest);
    const uint32_t part = (uint32_t)power >> (steps >> 24);
    return (int32_t)part;
}
