/* A vector that is whole numbers times rows of floats, which become such numbers as they are multiplied. */
typedef struct {
    const float *floats;
    const int32_t *numbers;
    tilewright_whole_line line;
    int length;
    uint32_t bits, share;
} tilewright_whole_vector;

static inline tilewright_whole_vector tilewright_whole_vector_of(int32_t *numbers, const float *from, int length, uint32_t bits, uint32_t share)
{
    tilewright_whole_vector vector;
    vector.floats = from;
    vector.numbers = numbers;
    vector.line = tilewright_whole_line_of(numbers, from, length, 1, bits, share);
    vector.length = length;
    vector.bits = bits;
    vector.share = share;
    return vector;
}

/* Whether the sizes of all products of a row together reach what is needed. */
static inline int tilewright_whole_row_reaches(const tilewright_whole_vector *x, const float *row, uint32_t top, uint64_t needed)
{
    uint64_t seen = 0;
    for (int i = 0; i < x->length && seen < needed; i++) {
        const int32_t number = x->numbers[i];
        const uint32_t left = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
        seen += (uint64_t)left * tilewright_whole_size(tilewright_whole_bits(row + i), top, x->bits);
    }
    return seen >= needed;
}

/* The sum of products with a row whose largest has the exponent `top`, and of a bias, if any, where it is known well enough;
 * 0 if not. */
static inline int tilewright_whole_row(float *sum, const tilewright_whole_vector *x, const float *row, uint32_t top, const float *bias)
{
    int known = tilewright_whole_ordinary(x->line.top, top, x->bits);
    if (known != 0) {
        const int32_t *const numbers = x->numbers;
        const int length = x->length;
        const uint32_t bits = x->bits, share = x->share;
        int64_t total = 0;
        uint32_t sizes = 2u * (uint32_t)length;
        for (int i = 0; i < length; i++) {
            const uint32_t word = tilewright_whole_bits(row + i), sign = 0u - (word >> 31);
            const uint32_t size = tilewright_whole_size(word, top, bits);
            const uint32_t code = (size ^ sign) - sign;
            int32_t value = (int32_t)code;
            TILEWRIGHT_WHOLE_WORD(value);
            sizes += size >> share;
            total += (int64_t)numbers[i] * value;
        }
        sizes += x->line.sizes;
        const uint32_t tops = x->line.top + top, more = share + 20u;
        const uint64_t needed = (uint64_t)sizes << more;
        const uint64_t reached = total < 0 ? (uint64_t)0 - (uint64_t)total : (uint64_t)total;
        if (reached < needed && tilewright_whole_row_reaches(x, row, top, needed) == 0) {
            known = 0;
        }
        *sum = tilewright_whole_biased(total, (int)tops - 252 - 2 * (int)bits, bias);
    }
    return known;
}

/* Sums of rows one behind the other, from biases or other starts on, if any: they may lie where the sums go. */
static inline void tilewright_whole_rows(float *out, int rows, const tilewright_whole_vector *x, const float *row, const uint8_t *tops,
                                         const float *starts)
{
    for (int i = 0; i < rows; i++) {
        const float *const start = starts != NULL ? starts + i : NULL;
        float v;
        if (!tilewright_whole_row(&v, x, row, tops[i], start)) {
            v = tilewright_whole_exact(start != NULL ? *start : 0.0f, x->floats, 1, row, 1, x->length, tilewright_whole_finite(x->line.top, tops[i]));
        }
        out[i] = v;
        row += x->length;
    }
}
