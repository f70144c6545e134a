/* Numbers in fixed point: upper halves of products, shifts, a reciprocal and an inverse root. */

/* The upper 32 bits of a product. */
#if defined(__GNUC__)
__attribute__((unused)) /* a layer may need only some of these */
#endif
static inline int32_t tilewright_fixed_high(int32_t a, int32_t b)
{
    return (int32_t)(uint32_t)((uint64_t)((int64_t)a * b) >> 32);
}

/* The value times 2^bits, rounded down; `bits` lies within 31 of 0. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_fixed_moved(int32_t value, int bits)
{
    return bits < 0 ? value >> -bits : (int32_t)((uint32_t)value << bits);
}

/* The bits that a number below 2^31 can be shifted to the left by; 31 for 0. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int tilewright_fixed_room(uint32_t size)
{
    int room = 31;
    for (int step = 16; step > 0; step /= 2) {
        if (size >> step != 0) {
            size >>= step;
            room -= step;
        }
    }
    return size != 0 ? room - 1 : room;
}

/* Bits of a number below 2^62. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int tilewright_fixed_bits(uint64_t value)
{
    return value >> 31 != 0 ? 62 - tilewright_fixed_room((uint32_t)(value >> 31)) : 31 - tilewright_fixed_room((uint32_t)value);
}

/* The bits that every element of a row can be shifted to the left by. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int tilewright_fixed_row_room(const int32_t *row, int length)
{
    uint32_t seen = 0;
    for (int i = 0; i < length; i++) {
        seen |= (uint32_t)(row[i] ^ row[i] >> 31);
    }
    return tilewright_fixed_room(seen);
}

/* The largest element of a row without its sign, 1 at least. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_fixed_most(const int32_t *row, int length)
{
    int32_t most = 1;
    for (int i = 0; i < length; i++) {
        const int32_t size = row[i] < 0 ? -row[i] : row[i];
        most = size > most ? size : most;
    }
    return most;
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_fixed_times(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 30);
}

/* 2^60 over a number from 2^30 to 2^31, within 2^-28 of itself. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_fixed_reciprocal(uint32_t value)
{
    const uint32_t first = (0x80000000u / (value >> 15)) << 14;
    const int32_t rest = 0x40000000 - (int32_t)tilewright_fixed_times(value, first);
    return first + (uint32_t)(int32_t)((int64_t)first * rest >> 30);
}

/* A number below 2^62 as its upper 32 bits, the highest or the one below it set, under the even number of bits that it is
 * shifted to the right by. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_fixed_upper(uint64_t value, int *even)
{
    const int bits = tilewright_fixed_bits(value) - 31;
    *even = bits >= 0 ? bits / 2 * 2 : -((1 - bits) / 2 * 2);
    return (uint32_t)(*even < 0 ? value << -*even : value >> *even);
}

/* 2^45 over the root of a number from 2^30 to 2^32, within 2^-28 of itself. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_fixed_inverse_root(uint32_t value)
{
    static const uint16_t guesses[24] = {
        31790, 30070, 28602, 27330, 26214, 25225, 24339, 23541, 22817, 22155, 21548, 20988,
        20470, 19988, 19539, 19119, 18725, 18354, 18004, 17674, 17361, 17064, 16782, 16514,
    };
    uint32_t root = (uint32_t)guesses[(value >> 27) - 8u] << 15;
    for (int step = 0; step < 3; step++) {
        const int32_t rest = 0x40000000 - (int32_t)tilewright_fixed_times(value, tilewright_fixed_times(root, root));
        root += (uint32_t)(int32_t)((int64_t)root * rest >> 31);
    }
    return root;
}
