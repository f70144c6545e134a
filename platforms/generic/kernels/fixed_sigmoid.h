/* 1 / (1 + exp(-x)), 2^30 for 1. |x| up to `limit` times 2^room times `factor` over 2^32 is an exponent of 2, 2^24 for 1. */
static inline int32_t tilewright_fixed_sigmoid(int32_t x, int32_t limit, int room, int32_t factor)
{
    /* 2^-g from the highest power of g on, 2^30 for 1: within 3e-9 on [0, 1] */
    static const int32_t powers[7] = {117391, -1369601, 10286296, -59582935, 257938912, -744260973, 1073741824};
    const int32_t size = x < 0 ? -x : x;
    const int32_t inside = size < limit ? size : limit;
    const uint32_t steps = (uint32_t)tilewright_fixed_high((int32_t)((uint32_t)inside << room), factor);
    const int32_t rest = (int32_t)((steps & 0xFFFFFFu) << 7);
    uint32_t share, sum;
    int32_t power = powers[0];
    for (int i = 1; i < 7; i++) {
        power = powers[i] + 2 * tilewright_fixed_high(power, rest);
    }
    power >>= steps >> 24;
    sum = 0x40000000u + (uint32_t)power;
    share = tilewright_fixed_reciprocal(sum < 0x7FFFFFFFu ? sum : 0x7FFFFFFFu);
    return (int32_t)(x < 0 ? tilewright_fixed_times((uint32_t)power, share) : share);
}
