/* The first tap of a window at `at` that lies in the input, and the one behind the last that does. */
static inline int tilewright_pool_first(int at, int dilation)
{
    return at < 0 ? (dilation - 1 - at) / dilation : 0;
}

static inline int tilewright_pool_last(int at, int size, int kernel, int dilation)
{
    const int taps = (size - 1 - at) / dilation + 1;
    return taps < kernel ? taps : kernel;
}
