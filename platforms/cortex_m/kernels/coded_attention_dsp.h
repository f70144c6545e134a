/* The high word of a product, rounded down or to the nearest. */
#define TILEWRIGHT_HIGH(name, instruction) \
    TILEWRIGHT_INTO int32_t tilewright_##name(int32_t a, int32_t b) \
    { \
        int32_t high; \
        __asm__(instruction " %0, %1, %2" : "=r"(high) : "r"(a), "r"(b)); \
        return high; \
    }
TILEWRIGHT_HIGH(high, "smmul")
TILEWRIGHT_HIGH(near_high, "smmulr")

/* Limited to sixteen bits. */
TILEWRIGHT_INTO uint32_t tilewright_step(uint32_t steps)
{
    uint32_t limited;
    __asm__("usat %0, #16, %1" : "=r"(limited) : "r"(steps));
    return limited;
}
