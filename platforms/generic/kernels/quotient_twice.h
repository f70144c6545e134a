/* a / b times multiplier / 2^(31 - shift) by the inverse of b in 31 bits; a number beyond all codes of a by 0. */
static inline int32_t tilewright_quotient_twice(int32_t a, int32_t b, int32_t multiplier, int shift)
{
    if (b == 0) {
        return a > 0 ? INT32_C(65536) : a < 0 ? INT32_C(-65536) : 0;
    }
    const int32_t dividend = b < 0 ? -a : a;
    uint32_t divisor = (uint32_t)(b < 0 ? -b : b), size = (uint32_t)(dividend < 0 ? -dividend - 1 : dividend);
    int right = 31 - shift;
    for (int turn = 0; turn < 31 && divisor < UINT32_C(0x80000000); turn++) {
        divisor *= 2;
        right--;
    }
    int room = 0;
    for (int turn = 0; turn < 31 && size < UINT32_C(0x40000000); turn++) {
        size *= 2;
        room++;
    }
    const int32_t left = (int32_t)((int64_t)dividend * (INT64_C(1) << room));
    const int32_t quotient = tilewright_doubled_high(left, tilewright_softmax_share(divisor));
    return tilewright_rounded_over(tilewright_doubled_high(quotient, multiplier), right + room);
}
