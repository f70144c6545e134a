/* Quotients of a softmax: product / total rounded to the nearest integer, ties to the even one. */
#if defined(__GNUC__)
__attribute__((noinline, unused))
#endif
static uint32_t tilewright_softmax_exact(uint64_t product, uint64_t total)
{
    uint64_t quotient = product / total;
    const uint64_t rest = product - quotient * total;
    if (rest * 2 > total || (rest * 2 == total && (quotient & 1) != 0)) {
        quotient++;
    }
    return (uint32_t)quotient;
}
