/* A number over 2^right, rounded down. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int64_t tilewright_fixed_down(int64_t value, int right)
{
    return value >> right;
}
