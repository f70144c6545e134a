/* 1 / (1 + exp(-x)), 2^30 for 1. |x| up to `limit` times 2^room times `factor` over 2^32 is an exponent of 2, 2^24 for 1. */
static inline int32_t tilewright_fixed_sigmoid(int32_t x, int32_t limit, int room, int32_t factor)
{
    const int32_t size = x < 0 ? -x : x;
    const int32_t inside = size < limit ? size : limit;
    const uint32_t steps = (uint32_t)tilewright_fixed_high((int32_t)((uint32_t)inside << room), factor);
    const int32_t power = tilewright_fixed_power(steps);
    const uint32_t sum = 0x40000000u + (uint32_t)power;
    const uint32_t share = tilewright_fixed_reciprocal(sum < 0x7FFFFFFFu ? sum : 0x7FFFFFFFu);
    return (int32_t)(x < 0 ? tilewright_fixed_times((uint32_t)power, share) : share);
}
