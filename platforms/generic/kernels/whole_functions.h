/* Functions of one float in whole numbers. */

/* 1 / (1 + exp(-v)). */
static inline float tilewright_whole_sigmoid(float v)
{
    const uint32_t bits = tilewright_sigmoid(tilewright_whole_bits(&v));
    (void)memcpy(&v, &bits, sizeof v);
    return v;
}

/* (1 - left) / (1 + left) with left = exp(-2 |v|), within 3e-7 of itself; a power series below 2^-3. */
static inline float tilewright_whole_tanh(float v)
{
    uint32_t bits = tilewright_whole_bits(&v);
    const uint32_t sign = bits & 0x80000000u, size = bits & 0x7FFFFFFFu;
    const int exponent = (int)(size >> 23) - 127;
    if (size > 0x7F800000u) {
        return v;
    }
    if (exponent < -13) {
        return v;
    }
    if (exponent < -3) {
        const float square = v * v;
        return v + v * square * (square * 0.1326f - 0.333333343f);
    }
    if (exponent > 3) {
        bits = 0x3F800000u;
    } else {
        /* 2 |v| log2(e), 2^24 for 1 */
        const uint32_t steps = (uint32_t)(((uint64_t)((size & 0x7FFFFFu) | 0x800000u) * 1549082005u) >> (28 - exponent));
        const uint32_t left = steps >> 24 < 31u ? (uint32_t)tilewright_fixed_power(steps) : 0u;
        const uint32_t share = tilewright_fixed_reciprocal(0x40000000u + left);
        bits = tilewright_whole_float((int32_t)tilewright_fixed_times(0x40000000u - left, share), -30);
    }
    bits |= sign;
    (void)memcpy(&v, &bits, sizeof v);
    return v;
}
