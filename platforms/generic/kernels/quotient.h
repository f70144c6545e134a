/* (a * multiplier / b + addend) / 2^shift, rounded down, for codes less their zero points; of a divisor of zero a code for
 * a below, at and above zero. */
#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline int32_t tilewright_code_quotient(
    int32_t a, int32_t b, int32_t multiplier, int32_t addend, uint32_t shift, int32_t below, int32_t none, int32_t above)
{
    if (b == 0) {
        return a < 0 ? below : (a == 0 ? none : above);
    }
    return tilewright_floor(a * multiplier / b + addend, shift);
}
