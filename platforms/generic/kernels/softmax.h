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

/*
 * numerator * 2^30 / total, too large by less than 3.1 and never too small, for a total from 2^30 on: a reciprocal of 28
 * bits, and one more step of Newton's that looks at all bits of the total.
 */
#if defined(__GNUC__)
__attribute__((noinline, unused))
#endif
static uint32_t tilewright_softmax_multiplier(uint32_t numerator, uint64_t total)
{
    const uint32_t part = (uint32_t)(total >> 30);
    uint32_t upper, first, near;
    int64_t rest;
    int32_t step;
    int more = 0;
    while (part >> more > 1u) {
        more++;
    }
    upper = (uint32_t)(total >> more);
    first = tilewright_fixed_reciprocal(upper);
    /* 2^60 less the product of both, with the bits that are not in `upper` */
    rest = (int64_t)((UINT64_C(1) << 60) - (uint64_t)upper * first);
    rest -= (int64_t)((uint64_t)((uint32_t)total & ((UINT32_C(1) << more) - 1u)) * first >> more);
    step = tilewright_fixed_high((int32_t)(rest >> 4), (int32_t)first) >> 22;
    near = first == 0x40000000u && step >= 0 ? 0xFFFFFFFFu : 4u * first + (uint32_t)step; /* 2^62 over the total */
    return ((uint32_t)(((uint64_t)numerator * near) >> 32) >> more) + 3u;
}
