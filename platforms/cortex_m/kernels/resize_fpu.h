/* y = a * p + b * q. */
static inline void tilewright_fpu_joined(const float *a, const float *b, float *y, float p, float q, int count)
{
    for (; count > 3; count -= 4) {
        const float first = TILEWRIGHT_MULTIPLY_ADD(b[0], q, a[0] * p);
        const float second = TILEWRIGHT_MULTIPLY_ADD(b[1], q, a[1] * p);
        const float third = TILEWRIGHT_MULTIPLY_ADD(b[2], q, a[2] * p);
        const float fourth = TILEWRIGHT_MULTIPLY_ADD(b[3], q, a[3] * p);
        y[0] = first;
        y[1] = second;
        y[2] = third;
        y[3] = fourth;
        a += 4;
        b += 4;
        y += 4;
    }
    for (int i = 0; i < count; i++) {
        y[i] = TILEWRIGHT_MULTIPLY_ADD(b[i], q, a[i] * p);
    }
}
