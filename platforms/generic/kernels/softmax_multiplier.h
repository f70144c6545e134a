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
    uint32_t upper, beside, first, near, unit = 1, more = 0;
    uint64_t product;
    int64_t rest = INT64_C(0x1000000000000000);
    int32_t step;
    while (part >> more > 1u) {
        more++;
        unit *= 2u;
    }
    upper = (uint32_t)(total >> more);
    beside = (uint32_t)total & (unit - 1u);
    first = tilewright_fixed_reciprocal(upper);
    /* 2^60 less the product of both, with the bits that are not in `upper` */
    product = (uint64_t)upper * first;
    rest -= (int64_t)product;
    product = (uint64_t)beside * first >> more;
    rest -= (int64_t)product;
    step = tilewright_floor(tilewright_fixed_high((int32_t)(rest / 16), (int32_t)first), 22u);
    near = first == 0x40000000u && step >= 0 ? 0xFFFFFFFFu : 4u * first + (uint32_t)step; /* 2^62 over the total */
    product = ((uint64_t)numerator * near) >> 32;
    return ((uint32_t)product >> more) + 3u;
}
