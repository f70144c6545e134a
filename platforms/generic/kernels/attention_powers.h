/* 2 to the power of -step / 2048, 2^30 for 1. */
static inline uint32_t tilewright_attention_power(const uint16_t *coarse, const uint16_t *fine, uint32_t step)
{
    return (uint32_t)coarse[step >> 5 & 63] * fine[step & 31] >> (step >> 11);
}

/* The steps from one score to a higher one, rounded. */
static inline uint32_t tilewright_attention_step(int32_t high, int32_t low, int32_t shift)
{
    const uint32_t step = ((uint32_t)(high - low) + ((uint32_t)1 << shift >> 1)) >> shift;
    return step < 65535u ? step : 65535u;
}
