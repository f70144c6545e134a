/* Lines of whole numbers of 30 bits times each other: of every product the high word counts, eight of them fit in a word. */
#define TILEWRIGHT_WHOLE_PART 32
#define TILEWRIGHT_WHOLE_RESULTS 16
#if defined(__GNUC__) && !defined(__clang__)
/* Else gcc loads all of a block at once, and spills. */
#define TILEWRIGHT_WHOLE_FOUR static __attribute__((noinline, unused, optimize("O2", "no-schedule-insns", "no-tree-ter", "ira-region=one")))
#elif defined(__clang__)
#define TILEWRIGHT_WHOLE_FOUR static __attribute__((noinline, unused))
#else
#define TILEWRIGHT_WHOLE_FOUR static
#endif
#if defined(__GNUC__)
#define TILEWRIGHT_WHOLE_ONCE static __attribute__((noinline, unused))
#define TILEWRIGHT_WHOLE_INLINE static inline __attribute__((always_inline, unused))
#else
#define TILEWRIGHT_WHOLE_ONCE static
#define TILEWRIGHT_WHOLE_INLINE static inline
#endif

/* The high word of a product. */
TILEWRIGHT_WHOLE_INLINE int32_t tilewright_whole_high(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;
    const uint64_t upper = (uint64_t)product >> 32;
    return (int32_t)(uint32_t)upper;
}

/* The exponent of the largest float of a line or of what was seen before, and how many of them are not 0. */
typedef struct {
    uint32_t largest;
    int32_t count;
} tilewright_whole_seen;

TILEWRIGHT_WHOLE_INLINE void tilewright_whole_look(tilewright_whole_seen *seen, const float *from, int length, int step)
{
    uint32_t largest = seen->largest;
    int32_t zeros = 0;
    for (int i = 0; i < length; i++) {
        const uint32_t doubled = tilewright_whole_bits(from) << 1;
        largest = doubled > largest ? doubled : largest;
        zeros += doubled == 0u ? 1 : 0;
        from = &from[step];
    }
    seen->largest = largest;
    seen->count += length - zeros;
}

/* Floats `step` apart as whole numbers below 2^bits; `top` is the exponent of the largest. */
TILEWRIGHT_WHOLE_INLINE void tilewright_whole_numbers(int32_t *to, const float *from, int length, int step, uint32_t top, uint32_t bits)
{
    for (int i = 0; i < length; i++) {
        const uint32_t word = tilewright_whole_bits(from), sign = 0u - (word >> 31), down = top - ((word >> 23) & 255u);
        const uint32_t size = down < 31u ? (((word << 8) | 0x80000000u) >> (32u - bits)) >> down : 0u;
        const uint32_t code = (size ^ sign) - sign;
        to[i] = (int32_t)code;
        from = &from[step];
    }
}

/* Adds the products of one line with up to four, `step` apart, to as many sums. */
TILEWRIGHT_WHOLE_FOUR void tilewright_whole_four(int64_t *sums, const int32_t *a, int length, const int32_t *w, int step, int lines)
{
    const int32_t *w1 = lines > 1 ? w + step : w, *w2 = lines > 2 ? w + 2 * step : w, *w3 = lines > 3 ? w + 3 * step : w;
    int64_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    while (length > 0) {
        int32_t part0 = 0, part1 = 0, part2 = 0, part3 = 0;
        if (length >= 8) {
#define TILEWRIGHT_WHOLE_STEP(at) \
    do { \
        const int32_t value = a[at]; \
        part0 += tilewright_whole_high(value, w[at]); \
        part1 += tilewright_whole_high(value, w1[at]); \
        part2 += tilewright_whole_high(value, w2[at]); \
        part3 += tilewright_whole_high(value, w3[at]); \
    } while (0)
            TILEWRIGHT_WHOLE_STEP(0);
            TILEWRIGHT_WHOLE_STEP(1);
            TILEWRIGHT_WHOLE_STEP(2);
            TILEWRIGHT_WHOLE_STEP(3);
            TILEWRIGHT_WHOLE_STEP(4);
            TILEWRIGHT_WHOLE_STEP(5);
            TILEWRIGHT_WHOLE_STEP(6);
            TILEWRIGHT_WHOLE_STEP(7);
            a += 8;
            w += 8;
            w1 += 8;
            w2 += 8;
            w3 += 8;
            length -= 8;
        } else {
            for (; length > 0; length--) {
                TILEWRIGHT_WHOLE_STEP(0);
                a++;
                w++;
                w1++;
                w2++;
                w3++;
            }
        }
        sum0 += part0;
        sum1 += part1;
        sum2 += part2;
        sum3 += part3;
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}
