/* Products of integers with codes of four bits, two columns in one 64-bit sum.
 * A word holds two columns of four steps: turned right by 8 * step, its lowest four bits are the code of the lower column,
 * its highest four that of the upper one, which counts from -8 on. */
#define TILEWRIGHT_BLOCKS_STEP(turn_first, turn_second) \
    "ldrd %[a0], %[a1], [%[a]], #8\n" \
    "and %[t], %[mask], %[w0]" turn_first "\n" \
    "smlal %[l0], %[h0], %[a0], %[t]\n" \
    "and %[t], %[mask], %[w1]" turn_first "\n" \
    "smlal %[l1], %[h1], %[a0], %[t]\n" \
    "and %[t], %[mask], %[w0]" turn_second "\n" \
    "smlal %[l0], %[h0], %[a1], %[t]\n" \
    "and %[t], %[mask], %[w1]" turn_second "\n" \
    "smlal %[l1], %[h1], %[a1], %[t]\n"

#define TILEWRIGHT_BLOCKS_FOUR \
    "ldrd %[w0], %[w1], [%[w]], #8\n" \
    TILEWRIGHT_BLOCKS_STEP("", ", ror #8") \
    TILEWRIGHT_BLOCKS_STEP(", ror #16", ", ror #24")
/* Written out and not by the assembler's repeat: gcc counts lines to know where constants between them still can be read. */
#define TILEWRIGHT_BLOCKS_16 \
    TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR
#define TILEWRIGHT_BLOCKS_32 TILEWRIGHT_BLOCKS_16 TILEWRIGHT_BLOCKS_16

#define TILEWRIGHT_BLOCKS_64 TILEWRIGHT_BLOCKS_32 TILEWRIGHT_BLOCKS_32

/* Adds `size` products of four columns to the sums of two pairs of columns, and moves behind what it read. */
#define TILEWRIGHT_BLOCKS_SUM(size) \
    TILEWRIGHT_INTO void tilewright_blocks_sum##size(const int32_t **row, const uint32_t **words, uint64_t *sums) \
    { \
        const int32_t *a = *row; \
        const uint32_t *w = *words; \
        uint32_t l0 = (uint32_t)sums[0], h0 = (uint32_t)(sums[0] >> 32); \
        uint32_t l1 = (uint32_t)sums[1], h1 = (uint32_t)(sums[1] >> 32); \
        uint32_t a0, a1, w0, w1, t; \
        __asm__( \
            TILEWRIGHT_BLOCKS_##size \
            : [l0] "+r"(l0), [h0] "+r"(h0), [l1] "+r"(l1), [h1] "+r"(h1), [a] "+r"(a), [w] "+r"(w), [a0] "=&r"(a0), \
              [a1] "=&r"(a1), [w0] "=&r"(w0), [w1] "=&r"(w1), [t] "=&r"(t) \
            : [mask] "r"(0xf000000fu) \
            : "memory"); \
        sums[0] = (uint64_t)h0 << 32 | l0; \
        sums[1] = (uint64_t)h1 << 32 | l1; \
        *row = a; \
        *words = w; \
    }
TILEWRIGHT_BLOCKS_SUM(16)
TILEWRIGHT_BLOCKS_SUM(32)
TILEWRIGHT_BLOCKS_SUM(64)

/* What stands beside the integers of a sum: what the sums of columns begin with, the scale of the integers, their sum. */
typedef struct {
    uint64_t start;
    float scale;
    int32_t sum;
} tilewright_blocks_part;

/* A row as integers: `steps` numbers, of which `there` are the row's, with the scale that makes it, and their sum. Gives 0
 * where a number is not finite, or all are too small for that. */
TILEWRIGHT_ONCE int tilewright_blocks_row(
    const float *a, int32_t *to, int steps, int there, float largest, tilewright_blocks_part *part)
{
    float most = 0.0f;
    int odd = 0;
    for (int k = 0; k < there; k++) {
        const float size = a[k] < 0.0f ? -a[k] : a[k];
        most = size > most ? size : most;
        odd |= !(size <= 1e30f);
    }
    if (odd || (most > 0.0f && most < 1e-30f)) {
        return 0;
    }
    const float factor = most > 0.0f ? largest / most : 0.0f;
    int32_t total = 0;
    for (int k = 0; k < steps; k++) {
        const float value = k < there ? a[k] * factor : 0.0f;
        const int32_t near = (int32_t)(value + (value < 0.0f ? -0.5f : 0.5f));
        total += near;
        to[k] = near;
    }
    part->scale = most / largest;
    part->sum = total;
    return 1;
}

/* The sums of a pair of columns before their products: what zero points take off, 8 in the upper one being none, and
 * half of the lower sum's range, so that it borrows nothing from the upper one. */
TILEWRIGHT_INTO uint64_t tilewright_blocks_start(int32_t sum, int32_t lower, int32_t upper)
{
    return (uint64_t)((int64_t)sum * -lower + (int64_t)sum * (8 - upper) * 0x10000000 + 0x8000000);
}

/* The lower and the upper of two sums, which lie 28 bits apart. */
TILEWRIGHT_INTO int32_t tilewright_blocks_lower(uint64_t sum)
{
    return (int32_t)((uint32_t)sum & 0xfffffffu) - 0x8000000;
}

TILEWRIGHT_INTO int32_t tilewright_blocks_upper(uint64_t sum)
{
    return (int32_t)(uint32_t)(sum >> 28);
}
