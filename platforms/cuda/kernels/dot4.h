/* sum + the products of four pairs of signed bytes, both at addresses that are multiples of four */
static inline int32_t tilewright_dot4(const int8_t *a, const int8_t *b, const int32_t sum)
{
#ifdef __CUDACC__
    return __dp4a(*(const int *)(const void *)a, *(const int *)(const void *)b, sum);
#else
    return sum + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
#endif
}
