/* The value shifted right by a literal and saturated to eight bits, to those from zero on, or to seven, in one instruction. */
#define TILEWRIGHT_SATURATING(shift) \
    TILEWRIGHT_INTO int32_t tilewright_saturate_##shift(int32_t value) \
    { \
        int32_t code; \
        __asm__("ssat %0, #8, %1, asr #" #shift : "=r"(code) : "r"(value)); \
        return code; \
    } \
    TILEWRIGHT_INTO int32_t tilewright_saturate_unsigned_##shift(int32_t value) \
    { \
        int32_t code; \
        __asm__("usat %0, #8, %1, asr #" #shift : "=r"(code) : "r"(value)); \
        return code; \
    } \
    TILEWRIGHT_INTO int32_t tilewright_saturate_positive_##shift(int32_t value) \
    { \
        int32_t code; \
        __asm__("usat %0, #7, %1, asr #" #shift : "=r"(code) : "r"(value)); \
        return code; \
    }
#define TILEWRIGHT_SATURATE(value, shift) tilewright_saturate_##shift(value)
#define TILEWRIGHT_SATURATE_UNSIGNED(value, shift) tilewright_saturate_unsigned_##shift(value)
#define TILEWRIGHT_SATURATE_POSITIVE(value, shift) tilewright_saturate_positive_##shift(value)
TILEWRIGHT_SATURATING(1)
TILEWRIGHT_SATURATING(2)
TILEWRIGHT_SATURATING(3)
TILEWRIGHT_SATURATING(4)
TILEWRIGHT_SATURATING(5)
TILEWRIGHT_SATURATING(6)
TILEWRIGHT_SATURATING(7)
TILEWRIGHT_SATURATING(8)
TILEWRIGHT_SATURATING(9)
TILEWRIGHT_SATURATING(10)
TILEWRIGHT_SATURATING(11)
TILEWRIGHT_SATURATING(12)
TILEWRIGHT_SATURATING(13)
TILEWRIGHT_SATURATING(14)
TILEWRIGHT_SATURATING(15)
TILEWRIGHT_SATURATING(16)
TILEWRIGHT_SATURATING(17)
TILEWRIGHT_SATURATING(18)
TILEWRIGHT_SATURATING(19)
TILEWRIGHT_SATURATING(20)
TILEWRIGHT_SATURATING(21)
TILEWRIGHT_SATURATING(22)
TILEWRIGHT_SATURATING(23)
TILEWRIGHT_SATURATING(24)
TILEWRIGHT_SATURATING(25)
TILEWRIGHT_SATURATING(26)
TILEWRIGHT_SATURATING(27)
TILEWRIGHT_SATURATING(28)
TILEWRIGHT_SATURATING(29)
TILEWRIGHT_SATURATING(30)

/* Two channels of two inputs, as halves, into the two planes. */
TILEWRIGHT_INTO void tilewright_two(uint32_t first, uint32_t second, uint32_t *to, int plane)
{
    to[0] = tilewright_bottoms(first, second);
    to[plane] = tilewright_tops(first, second);
}

/* The bottom of one word below the top of another, and the top below the bottom. */
TILEWRIGHT_INTO uint32_t tilewright_outer(uint32_t low, uint32_t high)
{
    uint32_t word;
    __asm__("pkhbt %0, %1, %2" : "=r"(word) : "r"(low), "r"(high));
    return word;
}

TILEWRIGHT_INTO uint32_t tilewright_inner(uint32_t low, uint32_t high)
{
    return low >> 16 | high << 16;
}

TILEWRIGHT_INTO uint32_t tilewright_doubled(uint32_t halves)
{
    uint32_t sums;
    __asm__("sadd16 %0, %1, %1" : "=r"(sums) : "r"(halves));
    return sums;
}
