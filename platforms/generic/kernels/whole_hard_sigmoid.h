/* x * slope + offset within [0, 1]; the slope is a float, the offset at most 2 either way with 2^28 for 1. */
static inline uint32_t tilewright_whole_hard_sigmoid(uint32_t x, uint32_t slope, int32_t offset)
{
    const uint32_t product = tilewright_whole_times(x, slope), exponent = tilewright_whole_exponent(product);
    const uint32_t steps = exponent > 128u ? 0x40000000u : exponent > 98u ? tilewright_whole_mantissa(product) >> (130u - exponent) : 0u;
    const int32_t value = offset + (product >> 31 != 0u ? -(int32_t)steps : (int32_t)steps);
    const int32_t within = value < 0 ? 0 : value > 0x10000000 ? 0x10000000 : value;
    return x << 1 > 0xFF000000u ? x : tilewright_whole_float(within, -28);
}
