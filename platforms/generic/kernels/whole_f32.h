/* Rows of float32 as whole numbers of 30 bits, all with the exponent of the largest. */

#if defined(__GNUC__)
#define TILEWRIGHT_WHOLE_AT(at) __builtin_assume_aligned(at, sizeof(float)) /* else bytes are copied one by one */
#else
#define TILEWRIGHT_WHOLE_AT(at) (at)
#endif

static inline uint32_t tilewright_whole_bits(const float *at)
{
    uint32_t bits;
    (void)memcpy(&bits, TILEWRIGHT_WHOLE_AT(at), sizeof bits);
    return bits;
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_whole_load(const float *at)
{
    int32_t value;
    (void)memcpy(&value, TILEWRIGHT_WHOLE_AT(at), sizeof value);
    return value;
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline void tilewright_whole_store(float *at, int32_t value)
{
    (void)memcpy(TILEWRIGHT_WHOLE_AT(at), &value, sizeof value);
}

/* The bits of the largest of a row without its sign; of one that is no number where there is one. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_whole_largest(const float *row, int length)
{
    uint32_t largest = 0;
    for (int i = 0; i < length; i++) {
        const uint32_t doubled = tilewright_whole_bits(row + i) << 1;
        largest = doubled > largest ? doubled : largest;
    }
    return largest >> 1;
}

/* A float times 2^(156 - top), `top` being the largest exponent of its row. What has none but 0 counts as zero. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_whole_of(uint32_t bits, uint32_t top)
{
    const uint32_t exponent = bits >> 23 & 255u, down = top - exponent;
    const uint32_t size = exponent != 0u && down < 31u ? ((bits & 0x7FFFFFu) | 0x800000u) << 6 >> down : 0u;
    return bits >> 31 != 0u ? -(int32_t)size : (int32_t)size;
}

/* The float nearest to value * 2^exponent, as long as that is a normal number. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_whole_float(int32_t value, int exponent)
{
    const uint32_t sign = value < 0 ? 0x80000000u : 0u;
    uint32_t size = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    if (size == 0u) {
        return 0;
    }
    exponent += 157;
    if (size >> 15 == 0u) {
        size <<= 16;
        exponent -= 16;
    }
    if (size >> 23 == 0u) {
        size <<= 8;
        exponent -= 8;
    }
    if (size >> 27 == 0u) {
        size <<= 4;
        exponent -= 4;
    }
    if (size >> 29 == 0u) {
        size <<= 2;
        exponent -= 2;
    }
    if (size >> 30 == 0u) {
        size <<= 1;
        exponent -= 1;
    }
    /* the bit above the 23 adds one to the exponent, and so does a carry */
    exponent -= 1;
    return exponent < 0 ? sign : sign + ((uint32_t)exponent << 23) + ((size + 63u + (size >> 7 & 1u)) >> 7);
}
