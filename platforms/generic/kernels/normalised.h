/* The integer part of a root, by a bit of it at a time. */
static inline uint32_t tilewright_normalised_root(uint64_t square)
{
    uint64_t root = 0, bit = (uint64_t)1 << 62;
    while (bit > square) {
        bit >>= 2;
    }
    while (bit != 0) {
        if (square >= root + bit) {
            square -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    return (uint32_t)root;
}
