/* erf(t) and 1 - erf(t): t times a polynomial of its square, and a power of e. */

/* erf(t) / t for t below 1, 2^32 for 1; 2^30 for 1 of the result. */
static inline uint32_t tilewright_whole_error_near(uint32_t t)
{
    const int32_t square = (int32_t)(tilewright_whole_upper(t, t) >> 1);
    int32_t value = 5280180 + 2 * tilewright_fixed_high(-604669, square);
    value = -28681052 + 2 * tilewright_fixed_high(value, square);
    value = 121120008 + 2 * tilewright_fixed_high(value, square);
    value = -403859264 + 2 * tilewright_fixed_high(value, square);
    value = 1211587840 + 2 * tilewright_fixed_high(value, square);
    return (uint32_t)value;
}

/* 1 - erf(t), 2^30 for 1, of t from 1 on, 2^29 for 1; nothing from 3.95 on. */
static inline uint32_t tilewright_whole_error_left(uint32_t t)
{
    const uint32_t near = t < 2120640102u ? t : 2120640102u;
    const int32_t quarter = (int32_t)near; /* 2^31 for 1 */
    int32_t value = -418913024 + 2 * tilewright_fixed_high(179034496, quarter);
    value = 344076320 + 2 * tilewright_fixed_high(value, quarter);
    value = 14137127 + 2 * tilewright_fixed_high(value, quarter);
    value = -331944640 + 2 * tilewright_fixed_high(value, quarter);
    value = 441584544 + 2 * tilewright_fixed_high(value, quarter);
    value = 683561728 + 2 * tilewright_fixed_high(value, quarter);
    value = 302896992 + 2 * tilewright_fixed_high(value, quarter);
    {
        const uint32_t size = tilewright_whole_upper(near << 1, (uint32_t)value << 1); /* 2^27 for 1 */
        const uint32_t turns = tilewright_whole_upper(size, 3098164009u);              /* 2^26 for 1 */
        return near < t ? 0u : tilewright_whole_power((turns & 0x3FFFFFFu) << 5) >> (turns >> 26);
    }
}
