/* Quotients of a softmax next to a tie: of `below` and the integer behind it the nearest to product / total, on the tie
 * the even one. It takes no division, which many a core has for 32 bits alone. */
#if defined(__GNUC__)
__attribute__((noinline, unused))
#endif
static uint32_t tilewright_softmax_exact(uint64_t product, uint64_t total, uint32_t below)
{
    const uint64_t twice = (product - below * total) * 2u;
    return twice > total || (twice == total && (below & 1u) != 0u) ? below + 1u : below;
}
