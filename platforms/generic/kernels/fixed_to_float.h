/* The bits of the float32 nearest to value * 2^exponent, ties to even; zero below the smallest normal number. */
static inline uint32_t tilewright_fixed_float(int32_t value, int exponent)
{
    const uint32_t sign = value < 0 ? 0x80000000u : 0u, size = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    const int half = size >> 31 != 0 ? 1 : 0; /* -2^31 alone */
    const int room = tilewright_fixed_room(size >> half) - half;
    const uint32_t full = room < 0 ? size >> 1 : size << room; /* 31 bits */
    const uint32_t rounded = (full + 63u + (full >> 7 & 1u)) >> 7;
    const int power = exponent + 30 - room + 127; /* a carry out of the 24 bits is one more */
    return size == 0 || power < 1 ? sign : sign | ((((uint32_t)power - 1u) << 23) + rounded);
}
