/* Inverse roots of numbers in fixed point. */

/* Bits of a number below 2^62. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int tilewright_fixed_bits(uint64_t value)
{
    const uint64_t upper = value >> 31;
    return upper != 0u ? 62 - tilewright_fixed_room((uint32_t)upper) : 31 - tilewright_fixed_room((uint32_t)value);
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
    const uint64_t upper = *even < 0 ? value << (uint32_t)-*even : value >> (uint32_t)*even;
    return (uint32_t)upper;
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
        const int64_t product = (int64_t)root * rest;
        const uint64_t part = (uint64_t)product >> 31;
        root += (uint32_t)part;
    }
    return root;
}
