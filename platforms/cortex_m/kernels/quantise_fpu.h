/* Codes of floats where the floating-point unit rounds to whole numbers, halves to the even one, and saturates. It brings
 * tilewright_fpu_code, tilewright_fpu_no_numbers and tilewright_fpu_range. */

/* The quotient, rounded once, as the nearest whole number with the zero point, within 32 bits; what is no number is 0. */
TILEWRIGHT_INTO int32_t tilewright_fpu_code(float value, float step, int32_t zero)
{
    float quotient = value / step;
    int32_t code;
    __asm__("vcvtr.s32.f32 %1, %1\n\tvmov %0, %1\n\tqadd %0, %0, %2" : "=&r"(code), "+t"(quotient) : "r"(zero));
    return code;
}

/* Not zero where one of four values is no number, or where infinities of both signs are among them. */
TILEWRIGHT_INTO int tilewright_fpu_no_numbers(const float *four)
{
    const float sum = (four[0] + four[1]) + (four[2] + four[3]);
    return sum == sum ? 0 : 1;
}

/* The least value, zero or below, and the greatest, zero or above: floats of one sign have the order of their bits. Zero
 * where one is infinite or no number. */
TILEWRIGHT_ONCE int tilewright_fpu_range(const float *x, int count, float *low, float *high)
{
    const uint32_t infinite = 0x7f800000u;
    uint32_t least = 0x80000000u;
    int32_t greatest = 0;
    TILEWRIGHT_UNROLL_FOUR
    for (int i = 0; i < count; i++) {
        const uint32_t bits = tilewright_load(x + i);
        least = bits > least ? bits : least;
        greatest = (int32_t)bits > greatest ? (int32_t)bits : greatest;
    }
    (void)memcpy(low, &least, sizeof least);
    (void)memcpy(high, &greatest, sizeof greatest);
    return (uint32_t)greatest < infinite && (least & 0x7fffffffu) < infinite ? 1 : 0;
}
