/* The value times 2^bits, rounded down; `bits` lies within 31 of 0. */
static inline int32_t tilewright_fixed_moved(int32_t value, int bits)
{
    const int right = -bits;
    const uint32_t left = (uint32_t)bits;
    return right > 0 ? value >> right : (int32_t)((uint32_t)value << left);
}
