/* Multiplies of halves: the letters name the half, bottom or top, of the first and of the second operand. */
#define TILEWRIGHT_HALVES(name) \
    TILEWRIGHT_INTO int32_t tilewright_##name(uint32_t a, uint32_t b, int32_t acc) \
    { \
        int32_t sum; \
        __asm__(#name " %0, %1, %2, %3" : "=r"(sum) : "r"(a), "r"(b), "r"(acc)); \
        return sum; \
    }
TILEWRIGHT_HALVES(smlabb)
TILEWRIGHT_HALVES(smlabt)
TILEWRIGHT_HALVES(smlatb)
TILEWRIGHT_HALVES(smlatt)
