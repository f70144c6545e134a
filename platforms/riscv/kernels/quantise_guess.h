/* The code of a float above the lowest one: a quotient with the step tells it but for one, then the smallest floats of two
 * codes do. `steps` are these floats' places in the order of all, `inverse` is 2^55 over the 24 bits of a step with the
 * exponent `top`, `zero` the code of 0. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* its numbers are constants of a layer */
#endif
static inline int32_t tilewright_guessed_code(const int32_t *steps, const float *at, uint32_t inverse, uint32_t top, int32_t zero)
{
    const uint32_t bits = tilewright_whole_bits(at), sign = 0u - (bits >> 31), word = bits ^ (sign >> 1);
    int32_t place = (int32_t)word;
    const uint32_t exponent = bits >> 23 & 255u, most = top + 9u, down = top + 15u - (exponent < most ? exponent : most);
    const uint32_t size = bits << 8 | 0x80000000u;
    const uint32_t quotient = (uint32_t)(((uint64_t)size * inverse) >> 32);
    const uint32_t whole = ((quotient >> (down < 31u ? down : 31u)) + 0x8000u) >> 16, number = (whole ^ sign) - sign;
    int32_t code = zero + (int32_t)number;
    code = code < 0 ? 0 : code;
    if (code > 254) {
        code = 254;
        if ((bits << 1) > 0xFF000000u) { /* what is no number becomes the lowest code */
            code = 0;
            place = -0x7FFFFFFF;
        }
    }
    return place >= steps[code + 1] ? code + 1 : place < steps[code] ? code - 1 : code;
}
