/* a * 2^left, limited to 32 bits. */
static inline int32_t tilewright_shares_shifted(int64_t a, int left)
{
    const int64_t wide = a * (INT64_C(1) << left);
    return wide > INT32_MAX ? INT32_MAX : (int32_t)wide;
}

/* How many zeros a positive number of 32 bits begins with. */
static inline int tilewright_leading_zeros(uint32_t number)
{
    int zeros = 0;
    for (int turn = 0; turn < 31 && number < UINT32_C(0x80000000); turn++) {
        number *= 2;
        zeros++;
    }
    return zeros;
}

/* The logarithm in Q5.26 of a total from one on in Q12.19: of its power of two, and a quotient of polynomials. */
static inline int32_t tilewright_logarithm(uint32_t sum)
{
    const int32_t root = 1805811301, half_root = 1518500250, total = (int32_t)sum;
    const int zeros = tilewright_leading_zeros(sum);
    const int32_t first = tilewright_shares_shifted(tilewright_doubled_high(tilewright_shares_shifted(total, zeros - 1), half_root), 1);
    const int behind = tilewright_leading_zeros((uint32_t)tilewright_doubled_high(total, half_root)) - 1;
    const int32_t second = tilewright_shares_shifted(total, behind);
    const int32_t power_first = (12 - zeros) * (INT32_C(1) << 25) + (INT32_C(1) << 23);
    const int32_t power_second = (12 - behind) * (INT32_C(1) << 25) - (INT32_C(1) << 23);
    const int32_t power = power_first > power_second ? power_first : power_second;
    const int32_t rest = first < second ? first : second;
    const int32_t middle = (int32_t)(((int64_t)rest + root + 1) / 2), q = 2 * (rest - root);
    const int32_t square = tilewright_doubled_high(q, q);
    const int32_t upper = tilewright_doubled_high(q, rest)
        + tilewright_doubled_high(tilewright_doubled_high(q, square), 117049297);
    const int32_t inner = 1057819769 + q + tilewright_doubled_high(square, 127690142);
    const int32_t lower = tilewright_doubled_high(middle, inner) + tilewright_doubled_high(q, 638450708);
    const int32_t share = tilewright_softmax_share((uint32_t)lower + UINT32_C(0x80000000));
    const int32_t quotient = tilewright_doubled_high(tilewright_rounded_over(upper, 6), share);
    return tilewright_shares_shifted((int64_t)tilewright_doubled_high(power, 1488522236) + quotient, 1);
}
