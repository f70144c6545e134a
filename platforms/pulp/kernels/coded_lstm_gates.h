/* What gates are made with on the cluster: a high word with its addend, and a curve whose ends are limited without a
 * branch. */
#define TILEWRIGHT_HIGH(a, b, addend) (tilewright_high((a), (b)) + (addend))
#define TILEWRIGHT_CURVE(zero, v) tilewright_curve((zero), tilewright_larger(tilewright_smaller((v), 1048575), -1048576))
#define TILEWRIGHT_CURVE_OF_TWICE(zero, v) tilewright_curve((zero), tilewright_larger(tilewright_smaller((v), 524287), -524288) * 2)

static inline int32_t tilewright_curve(const int16_t *zero, int32_t v)
{
    const int16_t *const at = zero + (v >> 11);
    const int32_t low = at[0], rest = v & 2047;
    return low + (tilewright_product_added(1024, at[1] - low, rest) >> 11);
}
