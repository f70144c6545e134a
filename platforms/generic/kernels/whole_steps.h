/* Integers rounded to powers of two, with numbers that are drawn from a count and a place alone. */
#if defined(__GNUC__)
#define TILEWRIGHT_SOME __attribute__((unused)) static inline /* a network may need only some of these */
#define TILEWRIGHT_WHOLE_STEP __attribute__((unused, always_inline)) static inline /* a byte that is written may be any number */
#else
#define TILEWRIGHT_SOME static inline
#define TILEWRIGHT_WHOLE_STEP static inline
#endif

/* value / 2^bits, rounded down; bits are 0 to 31. */
TILEWRIGHT_SOME int32_t tilewright_down(int32_t value, int32_t bits)
{
    const uint32_t sign = value < 0 ? 0xFFFFFFFFu : 0u;
    const uint32_t parts = (((uint32_t)value ^ sign) >> (uint32_t)bits) ^ sign;
    return (int32_t)parts;
}

TILEWRIGHT_SOME int32_t tilewright_within(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Where the numbers of a call begin. */
TILEWRIGHT_SOME uint32_t tilewright_drawn_from(int32_t count, uint32_t own)
{
    uint32_t word = (uint32_t)count * 0x85EBCA6Bu + own;
    word ^= word >> 13;
    word *= 0x2C1B3C6Du;
    return word ^ (word >> 16);
}

TILEWRIGHT_SOME uint32_t tilewright_drawn(uint32_t start, uint32_t place)
{
    uint32_t word = place * 0x9E3779B9u + start;
    word ^= word >> 15;
    return word * 0x2C1B3C6Du;
}

/* value / 2^bits rounded up or down, the nearer the likelier; value is less than 2^30. */
TILEWRIGHT_SOME int32_t tilewright_dithered(int32_t value, int32_t bits, uint32_t word)
{
    if (bits <= 0) {
        return value;
    }
    if (bits > 30) {
        const int32_t more = bits - 30;
        value = tilewright_down(value, more < 31 ? more : 31);
        bits = 30;
    }
    return tilewright_down(value + (int32_t)(word >> (uint32_t)(32 - bits)), bits);
}

/* Bits of a number that is not negative. */
TILEWRIGHT_SOME int32_t tilewright_length(uint32_t value)
{
    int32_t bits = 0;
    for (; value != 0u; value >>= 1) {
        bits++;
    }
    return bits;
}

/* value / 2^bits, rounded down; bits are 1 to 62. */
TILEWRIGHT_SOME int64_t tilewright_down_wide(int64_t value, int32_t bits)
{
    const uint64_t sign = value < 0 ? ~(uint64_t)0 : (uint64_t)0;
    const uint64_t parts = (((uint64_t)value ^ sign) >> (uint32_t)bits) ^ sign;
    return (int64_t)parts;
}
