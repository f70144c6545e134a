/* The value times 2^bits, rounded down; `bits` lies within 31 of 0. */
static inline int32_t tilewright_fixed_moved(int32_t value, int bits)
{
    return bits < 0 ? value >> -bits : (int32_t)((uint32_t)value << bits);
}
