/* Sums of products of floats as whole numbers, where there is no float unit. A line of floats becomes whole numbers below
 * 2^bits, all with the exponent of its largest; what is less than one of them is dropped. A sum of products is then off by
 * less than the sizes of both lines together. It is taken where that is less than 2^-20 of the sizes of its products; any
 * other sum is made of floats, so is what is infinite, no number, or far from 1. */

#if defined(__GNUC__)
/* A number of which the compiler knows no more than its 32 bits: else it multiplies it as one of 64. */
#define TILEWRIGHT_WHOLE_WORD(value) __asm__("" : "+r"(value))
#else
#define TILEWRIGHT_WHOLE_WORD(value) (void)(value)
#endif

/* The exponent of the largest of a line, and an upper bound of all sizes over 2^share. */
typedef struct {
    uint32_t top;
    uint32_t sizes;
} tilewright_whole_line;

/* Floats `step` apart as whole numbers, in their own place perhaps; they stay as they are where one is not finite. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline tilewright_whole_line tilewright_whole_line_of(int32_t *to, const float *from, int length, int step, uint32_t bits, uint32_t share)
{
    tilewright_whole_line line;
    uint32_t largest = 0;
    for (int i = 0; i < length; i++) {
        const uint32_t doubled = tilewright_whole_bits(from + i * step) << 1;
        largest = doubled > largest ? doubled : largest;
    }
    line.top = largest >> 24;
    line.sizes = 2u * (uint32_t)length;
    if (line.top != 255u) {
        for (int i = 0; i < length; i++) {
            const uint32_t word = tilewright_whole_bits(from + i * step), sign = 0u - (word >> 31);
            const uint32_t down = line.top - (word >> 23 & 255u);
            const uint32_t size = down < 31u ? ((word & 0x7FFFFFu) | 0x800000u) << (bits - 24u) >> down : 0u;
            const uint32_t code = (size ^ sign) - sign;
            line.sizes += size >> share;
            to[i] = (int32_t)code;
        }
    }
    return line;
}

/* The float nearest to sum * 2^exponent, a normal number or 0. */
static inline float tilewright_whole_real(int64_t sum, int exponent)
{
    const uint64_t size = sum < 0 ? (uint64_t)0 - (uint64_t)sum : (uint64_t)sum;
    const uint32_t high = (uint32_t)(size >> 32);
    const int down = high != 0u ? 33 - tilewright_fixed_room(high) : (uint32_t)size >> 31 != 0u ? 1 : 0;
    const uint64_t moved = size >> (uint32_t)down;
    const int32_t value = (int32_t)(uint32_t)moved;
    float real;
    tilewright_whole_store(&real, (int32_t)tilewright_whole_float(sum < 0 ? -value : value, exponent + down));
    return real;
}

/* The float nearest to sum * 2^exponent + bias, if there is one. */
static inline float tilewright_whole_biased(int64_t sum, int exponent, const float *bias)
{
    if (bias != NULL) {
        const uint32_t word = tilewright_whole_bits(bias), top = word >> 23 & 255u, size = (word & 0x7FFFFFu) | 0x800000u;
        const int left = (int)top - 150 - exponent;
        const uint64_t value = left >= 0 ? (uint64_t)size << ((uint32_t)left & 63u) : left > -24 ? size >> (uint32_t)-left : 0u;
        if (top == 0u || top == 255u || left > 37) {
            return tilewright_whole_real(sum, exponent) + *bias;
        }
        sum += word >> 31 != 0u ? -(int64_t)value : (int64_t)value;
    }
    return tilewright_whole_real(sum, exponent);
}

/* A result of a rectifier, not above a positive float; what is no number stays so. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline float tilewright_whole_rectified(float value, uint32_t high)
{
    uint32_t bits = tilewright_whole_bits(&value);
    float limited;
    if (bits << 1 <= 0xFF000000u) {
        bits = bits >> 31 != 0u ? 0u : bits > high ? high : bits;
    }
    tilewright_whole_store(&limited, (int32_t)bits);
    return limited;
}

/* Whether lines whose largest have these exponents are finite. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int tilewright_whole_finite(uint32_t top_a, uint32_t top_b)
{
    return top_a != 255u && top_b != 255u ? 1 : 0;
}

/* Whether floats with these exponents and their sums are far from the ends of what floats can be. */
static inline int tilewright_whole_ordinary(uint32_t top_a, uint32_t top_b, uint32_t bits)
{
    const uint32_t tops = top_a + top_b;
    const int exponent = (int)tops - 252 - 2 * (int)bits;
    return top_a > 31u && top_a < 255u && top_b > 31u && top_b < 255u && exponent > -101 && exponent < 33;
}

/* A sum of products of floats in their order, from `sum` on; those with a 0 add nothing where all are finite. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline float tilewright_whole_exact(float sum, const float *a, int a_step, const float *b, int b_step, int length, int finite)
{
    for (int i = 0; i < length; i++) {
        float left, right;
        (void)memcpy(&left, TILEWRIGHT_WHOLE_AT(a + i * a_step), sizeof left);
        (void)memcpy(&right, TILEWRIGHT_WHOLE_AT(b + i * b_step), sizeof right);
        if (!finite || ((tilewright_whole_bits(a + i * a_step) << 1) != 0u && (tilewright_whole_bits(b + i * b_step) << 1) != 0u)) {
            sum += left * right;
        }
    }
    return sum;
}
