/* The first tap of a window at `at` that lies in the input, and the one behind the last that does. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* into kernels that are compiled with options of their own, too */
#endif
static inline int tilewright_pool_first(int at, int dilation)
{
    return at < 0 ? (dilation - 1 - at) / dilation : 0;
}

#if defined(__GNUC__)
__attribute__((always_inline)) /* into kernels that are compiled with options of their own, too */
#endif
static inline int tilewright_pool_last(int at, int size, int kernel, int dilation)
{
    const int taps = (size - 1 - at) / dilation + 1;
    return taps < kernel ? taps : kernel;
}
