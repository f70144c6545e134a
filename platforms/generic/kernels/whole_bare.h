/* The same sums without memory for whole numbers: floats become such numbers as they are multiplied. */

/* A sum, the sizes of its products, and an upper bound of all sizes over 2^share. */
typedef struct {
    int64_t sum;
    uint64_t seen;
    uint32_t sizes;
} tilewright_whole_total;

/* The exponent of the largest float of a line, or of `before` other ones. */
static inline uint32_t tilewright_whole_top(uint32_t before, const float *from, int length, int step)
{
    uint32_t largest = before << 24;
    for (int i = 0; i < length; i++) {
        const uint32_t doubled = tilewright_whole_bits(from + i * step) << 1;
        largest = doubled > largest ? doubled : largest;
    }
    return largest >> 24;
}

static inline uint32_t tilewright_whole_size(uint32_t word, uint32_t top, int bits)
{
    const uint32_t down = top - (word >> 23 & 255u);
    return down < 31u ? ((word & 0x7FFFFFu) | 0x800000u) << (bits - 24) >> down : 0u;
}

/* Adds the products of two lines. */
static inline void tilewright_whole_add(tilewright_whole_total *total, const float *a, int a_step, uint32_t top_a, const float *b,
                                        int b_step, uint32_t top_b, int length, int bits, int share)
{
    int64_t sum = total->sum;
    uint64_t seen = total->seen;
    uint32_t sizes = total->sizes;
    for (int i = 0; i < length; i++) {
        const uint32_t left = tilewright_whole_bits(a + i * a_step), right = tilewright_whole_bits(b + i * b_step);
        const uint32_t left_size = tilewright_whole_size(left, top_a, bits), right_size = tilewright_whole_size(right, top_b, bits);
        const uint64_t product = (uint64_t)left_size * right_size;
        sizes += (left_size >> share) + (right_size >> share);
        seen += product;
        sum += ((left ^ right) >> 31) != 0u ? -(int64_t)product : (int64_t)product;
    }
    total->sum = sum;
    total->seen = seen;
    total->sizes = sizes;
}

/* The sum, and a bias if any, where it is known well enough; 0 if not. */
static inline int tilewright_whole_known(float *sum, const tilewright_whole_total *total, uint32_t top_a, uint32_t top_b, int bits, int share,
                                         const float *bias)
{
    *sum = tilewright_whole_biased(total->sum, (int)(top_a + top_b) - 252 - 2 * bits, bias);
    return total->seen >= (uint64_t)total->sizes << (share + 20);
}
