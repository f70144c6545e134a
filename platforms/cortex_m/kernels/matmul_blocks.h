/* Products of integers with codes of four bits, two columns in one 64-bit sum.
 * A word holds two columns of four steps: turned right by 8 * step, its lowest four bits are the code of the lower column,
 * its highest four that of the upper one, which counts from -8 on. Numbers of a row are sixteen times what they stand for,
 * so that the upper sum is the upper half; it is one less than it should be where the lower one is negative, which is little
 * beside the rounding of one number. It brings, for blocks of one sum or MANY, and an even number of those of sixteen
 * steps, with zero points of each or one of all,
 *   tilewright_blocks_columns16 tilewright_blocks_columns16_many tilewright_blocks_columns16_even
 *   tilewright_blocks_columns32 tilewright_blocks_columns32_many
 *   tilewright_blocks_columns64 tilewright_blocks_columns64_many
 *   tilewright_blocks_columns16_zeros tilewright_blocks_columns16_zeros_many tilewright_blocks_columns16_zeros_even
 *   tilewright_blocks_columns32_zeros tilewright_blocks_columns32_zeros_many
 *   tilewright_blocks_columns64_zeros tilewright_blocks_columns64_zeros_many
 * A row lies in segments: words behind these two, the scale of the numbers, and parts. Behind its first four numbers a part
 * holds what its sums begin with, 64 bits twice, or the negative sum of its numbers, a further step whose codes are the zero
 * points. The stream holds of each block the scales of four columns, their zero points, and codes. */
#if defined(__ARM_FP) && defined(__ARM_FEATURE_FMA) && defined(__OPTIMIZE__) && !defined(TILEWRIGHT_IN_C)
#define TILEWRIGHT_BLOCKS_PAIRS(number, turn) \
    "and r6, r7, r4" turn "\n\tsmlal r8, r9, " number ", r6\n\tand r6, r7, r5" turn "\n\tsmlal r10, r11, " number ", r6\n\t"
#define TILEWRIGHT_BLOCKS_STEPS \
    "ldrd r4, r5, [lr], #8\n\t" TILEWRIGHT_BLOCKS_PAIRS("r0", "") \
    TILEWRIGHT_BLOCKS_PAIRS("r1", ", ror #8") TILEWRIGHT_BLOCKS_PAIRS("r2", ", ror #16") TILEWRIGHT_BLOCKS_PAIRS("r3", ", ror #24")
#define TILEWRIGHT_BLOCKS_FOUR "ldmia.w r12!, {r0-r3}\n\t" TILEWRIGHT_BLOCKS_STEPS
#define TILEWRIGHT_BLOCKS_16 TILEWRIGHT_BLOCKS_STEPS TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR
#define TILEWRIGHT_BLOCKS_32 TILEWRIGHT_BLOCKS_16 TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR
#define TILEWRIGHT_BLOCKS_48 TILEWRIGHT_BLOCKS_32 TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR
#define TILEWRIGHT_BLOCKS_64 TILEWRIGHT_BLOCKS_48 TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR TILEWRIGHT_BLOCKS_FOUR
#define TILEWRIGHT_BLOCKS_SCALES "vldmia lr!, {s8-s11}\n\t"
#define TILEWRIGHT_BLOCKS_SCALES_zeros "vldmia lr!, {s8-s12}\n\t"
#define TILEWRIGHT_BLOCKS_START "ldmia.w r12!, {r0-r3, r8-r11}\n\t"
#define TILEWRIGHT_BLOCKS_START_zeros \
    "ldmia.w r12!, {r0-r4}\n\tvmov r6, s12\n\tand r5, r7, r6\n\tsmull r8, r9, r4, r5\n\t" \
    "and r5, r7, r6, ror #8\n\tsmull r10, r11, r4, r5\n\t"
#define TILEWRIGHT_BLOCKS_TURN(scales, body) scales body
#define TILEWRIGHT_BLOCKS_TURN_even(scales, body) scales body scales body
#define TILEWRIGHT_BLOCKS_TURN_many(scales, body) \
    scales "ldr r6, %[sums]\n\tstr r6, %[left]\n\t3:\n\t" body "ldr r6, %[left]\n\tsubs r6, r6, #1\n\tstr r6, %[left]\n\tbne.w 3b\n\t"
#define TILEWRIGHT_BLOCKS_REAL(lower, upper, first, second, scale, other) \
    "vmov s14, s15, " lower ", " upper "\n\tvcvt.f32.s32 s14, s14\n\tvcvt.f32.s32 s15, s15\n\t" \
    "vfma.f32 " first ", s14, " scale "\n\tvfma.f32 " second ", s15, " other "\n\t"
#define TILEWRIGHT_BLOCKS_PART(size, kind) \
    TILEWRIGHT_BLOCKS_START##kind TILEWRIGHT_BLOCKS_##size \
    TILEWRIGHT_BLOCKS_REAL("r8", "r9", "s0", "s1", "s8", "s9") TILEWRIGHT_BLOCKS_REAL("r10", "r11", "s2", "s3", "s10", "s11")

/* Registers have fixed names, since a list of them is loaded in their order; all are taken. */
#define TILEWRIGHT_BLOCKS_COLUMNS(size, kind, name) \
    TILEWRIGHT_ONCE const uint32_t *tilewright_blocks_columns##size##kind##name( \
        const int32_t *row, const int32_t *last, const uint32_t *stream, int sums, float *totals) \
    { \
        const uint32_t mask = 0xf000000fu; \
        uint32_t end = 0, left = 0; \
        __asm__ volatile( \
            "ldr r12, %[row]\n\tldr lr, %[stream]\n\tldr r7, %[mask]\n\t" \
            "movs r6, #0\n\tvmov s4, s5, r6, r6\n\tvmov s6, s7, r6, r6\n\t" \
            "1:\n\tldrd r4, r5, [r12], #8\n\tadd r4, r12, r4, lsl #2\n\tstr r4, %[end]\n\tvmov s13, r5\n\t" \
            "movs r6, #0\n\tvmov s0, s1, r6, r6\n\tvmov s2, s3, r6, r6\n\t" \
            "2:\n\t" TILEWRIGHT_BLOCKS_TURN##name(TILEWRIGHT_BLOCKS_SCALES##kind, TILEWRIGHT_BLOCKS_PART(size, kind)) \
            "ldr r6, %[end]\n\tcmp r12, r6\n\tbne.w 2b\n\t" \
            "vfma.f32 s4, s0, s13\n\tvfma.f32 s5, s1, s13\n\tvfma.f32 s6, s2, s13\n\tvfma.f32 s7, s3, s13\n\t" \
            "ldr r6, %[last]\n\tcmp r12, r6\n\tbne.w 1b\n\t" \
            "ldr r0, %[totals]\n\tvstmia r0, {s4-s7}\n\tstr lr, %[stream]\n\t" \
            : [stream] "+m"(stream), [end] "+m"(end), [left] "+m"(left) \
            : [row] "m"(row), [last] "m"(last), [mask] "m"(mask), [sums] "m"(sums), [totals] "m"(totals) \
            : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3", \
              "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc", "memory"); \
        return stream; \
    }
#else
#define TILEWRIGHT_BLOCKS_KIND 0
#define TILEWRIGHT_BLOCKS_KIND_zeros 1

/* The word turned right by a number of bits, and of it the codes of one step. */
TILEWRIGHT_INTO int64_t tilewright_blocks_codes(uint32_t word, uint32_t turn)
{
    const uint32_t turned = turn == 0u ? word : word >> turn | word << (32u - turn);
    return (int32_t)(turned & 0xf000000fu);
}

TILEWRIGHT_INTO float tilewright_blocks_float(uint32_t bits)
{
    float value;
    (void)memcpy(&value, &bits, sizeof value);
    return value;
}

TILEWRIGHT_INTO const uint32_t *tilewright_blocks_sums(
    const int size, const int zeros, const int32_t *row, const int32_t *last, const uint32_t *stream, int sums, float *totals)
{
    for (int c = 0; c < 4; c++) {
        totals[c] = 0.0f;
    }
    while (row != last) {
        const int32_t *const end = row + 2 + row[0];
        const float scale = tilewright_blocks_float((uint32_t)row[1]);
        float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        row += 2;
        while (row != end) {
            const uint32_t *const head = stream;
            stream += 4 + zeros;
            for (int left = sums; left > 0; left--) {
                int64_t pairs[2];
                if (zeros != 0) {
                    pairs[0] = row[4] * tilewright_blocks_codes(head[4], 0u);
                    pairs[1] = row[4] * tilewright_blocks_codes(head[4], 8u);
                } else {
                    (void)memcpy(pairs, row + 4, sizeof pairs);
                }
                for (int i = 0; i < size; i += 4) {
                    TILEWRIGHT_UNROLL
                    for (int step = 0; step < 4; step++) {
                        pairs[0] += row[step] * tilewright_blocks_codes(stream[0], 8u * (uint32_t)step);
                        pairs[1] += row[step] * tilewright_blocks_codes(stream[1], 8u * (uint32_t)step);
                    }
                    row += i > 0 ? 4 : zeros != 0 ? 5 : 8;
                    stream += 2;
                }
                TILEWRIGHT_UNROLL
                for (int c = 0; c < 4; c++) {
                    const uint64_t pair = (uint64_t)pairs[c / 2];
                    const int32_t sum = (int32_t)(uint32_t)(c % 2 != 0 ? pair >> 32 : pair);
                    part[c] += (float)sum * tilewright_blocks_float(head[c]);
                }
            }
        }
        for (int c = 0; c < 4; c++) {
            totals[c] += part[c] * scale;
        }
    }
    return stream;
}

#define TILEWRIGHT_BLOCKS_COLUMNS(size, kind, name) \
    TILEWRIGHT_ONCE const uint32_t *tilewright_blocks_columns##size##kind##name( \
        const int32_t *row, const int32_t *last, const uint32_t *stream, int sums, float *totals) \
    { \
        return tilewright_blocks_sums((size), TILEWRIGHT_BLOCKS_KIND##kind, row, last, stream, sums, totals); \
    }
#endif
TILEWRIGHT_BLOCKS_COLUMNS(16, , )
TILEWRIGHT_BLOCKS_COLUMNS(16, , _even)
TILEWRIGHT_BLOCKS_COLUMNS(16, , _many)
TILEWRIGHT_BLOCKS_COLUMNS(16, _zeros, )
TILEWRIGHT_BLOCKS_COLUMNS(16, _zeros, _even)
TILEWRIGHT_BLOCKS_COLUMNS(16, _zeros, _many)
TILEWRIGHT_BLOCKS_COLUMNS(32, , )
TILEWRIGHT_BLOCKS_COLUMNS(32, , _many)
TILEWRIGHT_BLOCKS_COLUMNS(32, _zeros, )
TILEWRIGHT_BLOCKS_COLUMNS(32, _zeros, _many)
TILEWRIGHT_BLOCKS_COLUMNS(64, , )
TILEWRIGHT_BLOCKS_COLUMNS(64, , _many)
TILEWRIGHT_BLOCKS_COLUMNS(64, _zeros, )
TILEWRIGHT_BLOCKS_COLUMNS(64, _zeros, _many)

/* The largest absolute value, as its bits: those of a value that is not finite are larger. */
TILEWRIGHT_ONCE uint32_t tilewright_blocks_most(const float *a, int count)
{
    uint32_t most = 0;
    TILEWRIGHT_UNROLL_FOUR
    for (int k = 0; k < count; k++) {
        const uint32_t size = tilewright_load(&a[k]) & 0x7fffffffu;
        most = size > most ? size : most;
    }
    return most;
}

/* `count` values as numbers, sixteen times what they stand for, and their sum. Behind 1.5 * 2^23 a float has no fraction. */
TILEWRIGHT_ONCE int32_t tilewright_blocks_numbers(const float *a, int32_t *to, int count, float factor)
{
    uint32_t total = 0;
    TILEWRIGHT_UNROLL_FOUR
    for (int k = 0; k < count; k++) {
        const float whole = a[k] * factor + 12582912.0f;
        const uint32_t number = (tilewright_load(&whole) << 4) - 0xb4000000u;
        total += number;
        to[k] = (int32_t)number;
    }
    return (int32_t)total;
}

/* The code of a step of the lower or the upper column of a word. */
TILEWRIGHT_INTO int32_t tilewright_blocks_code(uint32_t word, int step, int upper)
{
    const uint32_t place = (uint32_t)step * 2u + (uint32_t)upper * 7u;
    const uint32_t code = (word >> (place % 8u * 4u)) & 15u;
    return (int32_t)(upper != 0 ? code ^ 8u : code);
}

/* The scale of a column, of which the stream has a sixteenth in lower ones. */
TILEWRIGHT_INTO float tilewright_blocks_scale(uint32_t bits, int upper)
{
    float scale;
    tilewright_put(&scale, bits);
    return upper != 0 ? scale : scale * 16.0f;
}

/* How a row is cut: its values, those of a segment, a block and a sum; words of a part beside its numbers, one where blocks
 * have zero points of their own, else what comes to a sum for each of its numbers. */
typedef struct {
    int depth;
    int segment;
    int block;
    int size;
    int own_words;
    int64_t start;
} tilewright_blocks_shape;

/* The part of a sum: `count` values are there. Gives what lies behind it. */
TILEWRIGHT_INTO int32_t *tilewright_blocks_part(
    const float *a, int32_t *to, int count, float factor, const tilewright_blocks_shape *shape)
{
    const int own = shape->own_words;
    const int first = count < 4 ? count : 4;
    int32_t *const numbers = to + own;
    int32_t total = tilewright_blocks_numbers(a, to, first, factor);
    for (int k = first; k < 4; k++) {
        to[k] = 0;
    }
    total += tilewright_blocks_numbers(a + first, numbers + 4, count - first, factor);
    for (int k = count > 4 ? count : 4; k < shape->size; k++) {
        numbers[k] = 0;
    }
    if (own == 1) {
        to[4] = -total;
    } else {
        const int64_t start = total * shape->start;
        (void)memcpy(to + 4, &start, sizeof start);
        (void)memcpy(to + 6, &start, sizeof start);
    }
    return numbers + shape->size;
}

/* A row as segments of whole blocks, in numbers up to `largest`; gives what lies behind it, or NULL where a value is not
 * finite, or all are too small. */
TILEWRIGHT_ONCE const int32_t *tilewright_blocks_row(
    const float *a, int32_t *to, const tilewright_blocks_shape *shape, float largest)
{
    for (int at = 0; at < shape->depth; at += shape->segment) {
        const int left = shape->depth - at;
        const int there = left < shape->segment ? left : shape->segment;
        const uint32_t bits = tilewright_blocks_most(a + at, there);
        float most;
        tilewright_put(&most, bits);
        if (!(most <= 1e30f) || (most > 0.0f && most < 1e-30f)) {
            return NULL;
        }
        const float scale = most / largest;
        const float factor = most > 0.0f ? largest / most : 0.0f;
        int32_t *const head = to;
        tilewright_put(&head[1], tilewright_load(&scale));
        to += 2;
        const int whole = (there + shape->block - 1) / shape->block * shape->block;
        for (int k = 0; k < whole; k += shape->size) {
            const int count = there - k < shape->size ? there - k : shape->size;
            to = tilewright_blocks_part(a + at + k, to, count < 0 ? 0 : count, factor, shape);
        }
        const ptrdiff_t words = to - head;
        head[0] = (int32_t)words - 2;
    }
    return to;
}
