/* Products in 64 bits and shifts, limited to 32. */
static inline int32_t tilewright_root_step(int64_t product, int left)
{
    const int64_t wide = ((product + (INT64_C(1) << 30)) >> 31) * (INT64_C(1) << left);
    return wide > INT32_MAX ? INT32_MAX : (int32_t)wide;
}

/* The multiplier m of 1 / sqrt(number) = m / 2^(31 + right): five steps of Newton in Q3.28. */
static inline int32_t tilewright_root_multiplier(int32_t number, int *right)
{
    if (number <= 1) {
        *right = 0;
        return INT32_MAX;
    }
    int shift = 11;
    if (number >= INT32_C(1) << 29) {
        number /= 4;
        shift++;
    }
    for (int turn = 0; turn < 14 && number < INT32_C(1) << 27; turn++) {
        number *= 4;
        shift--;
    }
    const int32_t half = ((number >> 1) + 1) / 2;
    int32_t x = INT32_C(1) << 28;
    for (int step = 0; step < 5; step++) {
        const int32_t square = tilewright_root_step((int64_t)x * x, 0);
        const int32_t cube = tilewright_root_step((int64_t)square * x, 6);
        const int32_t next = tilewright_root_step(INT64_C(402653184) * x, 0) - tilewright_root_step((int64_t)half * cube, 0);
        x = next > INT32_MAX >> 3 ? INT32_MAX : next * 8;
    }
    x = tilewright_root_step((int64_t)x * 1518500250, 0);
    *right = shift < 0 ? 0 : shift;
    return shift < 0 ? x * (INT32_C(1) << -shift) : x;
}

/* 1 / sqrt(number) with 20 fraction bits, then in the scale of a result; `largest` of what is not positive. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_inverse_root(int32_t number, int64_t multiplier, int narrowing, int32_t largest)
{
    if (number <= 0) {
        return largest;
    }
    int right = 0;
    const int64_t root = tilewright_root_multiplier(number, &right);
    const int32_t wide = (int32_t)((root * (INT32_C(1) << (20 - right)) + (INT32_C(1) << 30)) >> 31);
    return tilewright_rounded_twice(wide, multiplier, narrowing);
}
