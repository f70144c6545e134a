/* Floats as whole numbers below 2^27, each 2^14 times an upper half plus a lower one of 16 bits. Two numbers lie in two words,
 * their uppers and their lowers; behind them lie the `parts`, the sizes over 2^20 as bytes. Of a product of two numbers that of
 * the lowers is left out, so a sum of `length` products is off by less than tilewright_halves_off of them, over 2^20. */

#if defined(__GNUC__)
#define TILEWRIGHT_HALVES_INLINE static inline __attribute__((always_inline, unused))
#define TILEWRIGHT_HALVES_APART static __attribute__((noinline)) /* each part of a kernel fits a core's cache by itself */
#else
#define TILEWRIGHT_HALVES_INLINE static inline
#define TILEWRIGHT_HALVES_APART static
#endif

/* The exponent of the largest of a line, and its parts added up. */
typedef struct {
    uint32_t top;
    uint32_t sizes;
} tilewright_halves_line;

/* A line as it comes: floats `step` apart, and the largest of their sizes and of `largest`. */
TILEWRIGHT_HALVES_INLINE int32_t tilewright_halves_copied(uint32_t *to, const float *from, int length, int step, int32_t largest)
{
    for (int i = 0; i < length; i++) {
        const uint32_t word = tilewright_whole_bits(from), size = word & 0x7FFFFFFFu;
        to[i] = word;
        largest = tilewright_larger(largest, (int32_t)size);
        from = &from[step];
    }
    return largest;
}

/* The size of a float's number; what is no more than a half of one is 0. */
TILEWRIGHT_HALVES_INLINE uint32_t tilewright_halves_size(uint32_t word, uint32_t top)
{
    const uint32_t down = top - ((word << 1) >> 24);
    const int32_t few = tilewright_smaller((int32_t)down, 31);
    return (((word << 8) | 0x80000000u) >> 5) >> (uint32_t)few;
}

/* A float's number with 2^13 more, so that its lower half is not negative. */
TILEWRIGHT_HALVES_INLINE uint32_t tilewright_halves_number(uint32_t word, uint32_t size)
{
    const uint32_t sign = 0u - (word >> 31);
    return (size ^ sign) - sign + 8192u;
}

/* Words of floats, in pairs, as numbers in their own place; they stay as they are where one is not finite. */
TILEWRIGHT_HALVES_INLINE tilewright_halves_line tilewright_halves_of(uint32_t *line, int pairs, int32_t largest)
{
    tilewright_halves_line told;
    uint8_t *part = (uint8_t *)(void *)(line + 2 * pairs);
    const uint32_t top = (uint32_t)largest >> 23;
    uint32_t sizes = 0;
    if (top != 255u) {
        for (int i = 0; i < pairs; i++) {
            const uint32_t left = line[0], right = line[1];
            const uint32_t size = tilewright_halves_size(left, top), other = tilewright_halves_size(right, top);
            const uint32_t one = tilewright_halves_number(left, size), two = tilewright_halves_number(right, other);
            const uint32_t high = size >> 20, higher = other >> 20;
            sizes += high + higher;
            part[0] = (uint8_t)high;
            part[1] = (uint8_t)higher;
            line[0] = ((one >> 14) & 0xFFFFu) | ((two << 2) & 0xFFFF0000u);
            line[1] = (((one & 0x3FFFu) - 8192u) & 0xFFFFu) | (((two & 0x3FFFu) - 8192u) << 16);
            part = &part[2];
            line = &line[2];
        }
    }
    told.top = top;
    told.sizes = sizes;
    return told;
}

/* An upper bound of how far a sum is off, over 2^20: what was dropped of either line, lowers, and what blocks of sums drop. */
TILEWRIGHT_HALVES_INLINE uint32_t tilewright_halves_off(uint32_t sizes, uint32_t other, int length)
{
    return sizes + other + 83u * (uint32_t)length + 512u;
}

/* Whether a sum is 2^margin times what it may be off. It counts 2^28. */
TILEWRIGHT_HALVES_INLINE int tilewright_halves_known(int64_t sum, uint32_t off, uint32_t margin)
{
    const uint64_t size = sum < 0 ? (uint64_t)0 - (uint64_t)sum : (uint64_t)sum;
    const uint64_t most = (uint64_t)off;
    const uint32_t more = margin - 8u;
    return size >= most << more ? 1 : 0;
}

/* The float nearest to sum * 2^exponent + bias, if there is one; few of them have more than 32 bits. */
TILEWRIGHT_HALVES_INLINE float tilewright_halves_real(int64_t sum, int exponent, const float *bias)
{
    const uint32_t word = bias != NULL ? tilewright_whole_bits(bias) : 0u;
    const int32_t left = (word << 1) == 0u ? 0 : (int32_t)((word << 1) >> 24) - 150 - exponent;
    float real;
    if (sum > -1073741824 && sum < 1073741824 && left > -25 && left < 6 && ((word << 1) == 0u || (word << 1) > 0xFFFFFFu)) {
        const uint32_t size = (word << 1) == 0u ? 0u : (word & 0x7FFFFFu) | 0x800000u;
        const uint32_t moved = left < 0 ? size >> (uint32_t)-left : size << (uint32_t)left;
        const int32_t value = (int32_t)moved, own = (int32_t)sum;
        tilewright_whole_store(&real, (int32_t)tilewright_whole_float(word >> 31 != 0u ? own - value : own + value, exponent));
    } else {
        real = tilewright_whole_biased(sum, exponent, bias);
    }
    return real;
}

#ifndef TILEWRIGHT_XPULP
static inline int32_t tilewright_halves_signed(uint32_t half)
{
    const int32_t value = (int32_t)half;
    return value < 32768 ? value : value - 65536;
}

/* Products of two halves of 16 bits each, added to a sum. */
static inline int32_t tilewright_halves_dot(int32_t sum, uint32_t a, uint32_t b)
{
    return sum + tilewright_halves_signed(a & 0xFFFFu) * tilewright_halves_signed(b & 0xFFFFu) +
           tilewright_halves_signed(a >> 16) * tilewright_halves_signed(b >> 16);
}
#endif
