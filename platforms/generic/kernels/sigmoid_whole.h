/* 1 / (1 + exp(-x)) of a float32, both as their bits, in whole numbers: nearer than 1.5e-7 of itself; below -86 it is 0. */
static inline uint32_t tilewright_sigmoid(uint32_t x)
{
    /* 2^-g from the highest power of g on, 2^30 for 1: within 3e-9 on [0, 1] */
    static const int32_t powers[7] = {117391, -1369601, 10286296, -59582935, 257938912, -744260973, 1073741824};
    const uint32_t size = x & 0x7FFFFFFFu;
    const int exponent = (int)(size >> 23) - 127, negative = (int)(x >> 31);
    uint32_t steps, whole, left, sum, quotient, value;
    int32_t rest, power;
    if (size > 0x7F800000u) {
        return x; /* no number */
    }
    if (exponent < -25) {
        return 0x3F000000u;
    }
    if (exponent > 6) {
        return negative ? 0u : 0x3F800000u;
    }
    /* exp(-|x|) = 2^-whole * 2^-rest: |x| * log2(e), 2^24 for 1 */
    steps = (uint32_t)(((uint64_t)((size & 0x7FFFFFu) | 0x800000u) * 1549082005u) >> (29 - exponent));
    whole = steps >> 24;
    rest = (int32_t)((steps & 0xFFFFFFu) << 6);
    power = powers[0];
    for (int i = 1; i < 7; i++) {
        power = powers[i] + (int32_t)(((int64_t)power * rest) >> 30);
    }
    left = whole < 31 ? (uint32_t)power >> whole : 0u;
    /* 1 / (1 + left): a quotient of 16 bits, and one step of Newton's */
    sum = 0x40000000u + left;
    quotient = (0x80000000u / (sum >> 15)) << 14;
    rest = 0x40000000 - (int32_t)(((uint64_t)sum * quotient) >> 30);
    value = quotient + (uint32_t)(int32_t)(((int64_t)quotient * rest) >> 30);
    if (negative != 0) {
        value = (uint32_t)(((uint64_t)value * (uint32_t)power) >> 29);
        if (value >= 0x40000000u) {
            value >>= 1;
        } else {
            whole++;
        }
    } else {
        whole = 0;
    }
    return whole > 124 ? 0u : ((126u - whole) << 23) + ((value + 32u) >> 6) - 0x800000u;
}
