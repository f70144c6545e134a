/* a * b / 2^31, halves upwards: gemmlowp's SaturatingRoundingDoublingHighMul of numbers that are not both -2^31. */
static inline int32_t tilewright_doubled_high(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + (INT32_C(1) << 30)) >> 31);
}

/* 1 / (total / 2^31) in Q0.31 of a total from 2^31 on: three steps of Newton from 48/17 - 32/17 * total / 2^32. */
static inline int32_t tilewright_softmax_share(uint32_t total)
{
    const int32_t half = (int32_t)(total >> 1);
    int32_t x = 1515870810 + tilewright_doubled_high(half, -1010580540);
    for (int step = 0; step < 3; step++) {
        x += tilewright_doubled_high(x, (INT32_C(1) << 29) - tilewright_doubled_high(half, x)) * 4;
    }
    return x >= INT32_C(1) << 30 ? INT32_MAX : x * 2;
}
