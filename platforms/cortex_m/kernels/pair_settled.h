/* sum + a * b; compilers that know one factor take it apart. */
TILEWRIGHT_INTO int64_t tilewright_add_product(int64_t sum, int32_t a, int32_t b)
{
    __asm__("smlal %Q0, %R0, %1, %2" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* The code of a result next to a tie; `rest` is its fraction, codes are less their zero points. Numbers behind those of
 * tilewright_settled: the zero point of the result, both factors of the word without their signs, its shift, and what
 * they are rounded by. Float32 rounds each operand, their sum and its quotient by 2^-24 of what they are. */
TILEWRIGHT_ONCE int32_t tilewright_near_a_tie(int32_t code, uint32_t rest, int32_t a, int32_t b, const int32_t *numbers)
{
    const int above = rest < UINT32_C(0x80000000) ? 1 : 0;
    const int32_t below = code - above, result = below - numbers[7];
    const int64_t first = a < 0 ? -a : a, second = b < 0 ? -b : b;
    const int64_t word = numbers[6] == 0 ? 2 * first * second * numbers[8] : first * numbers[8] + second * numbers[9];
    const uint32_t operands = (uint32_t)((uint64_t)word >> numbers[10]) + 1u;
    const uint32_t results = 2u * (uint32_t)(result < 0 ? -result : result) + 4u;
    if ((above == 1 ? rest : 0u - rest) > 257u * (operands + results) + (uint32_t)numbers[11]) {
        return code;
    }
    return below + tilewright_settled(result, a, b, numbers);
}
