/* A difference of codes, which a cast may not stand around. */
static inline int64_t tilewright_difference(int64_t code, int64_t zero)
{
    return code - zero;
}
