/* A kernel of several phases is compiled for each by itself: cores save and fetch nothing for the others. */
#ifdef __GNUC__
#define TILEWRIGHT_PHASES static inline __attribute__((always_inline))
#else
#define TILEWRIGHT_PHASES static inline
#endif

/* The first of `total` things that core `core` takes; the next core's first is its end. */
static inline int tilewright_share(int total, int core, int cores)
{
    const int product = total * core;
    const unsigned eighth = (unsigned)product >> 3; /* a division takes the core long */
    return cores == 8 ? (int)eighth : product / cores;
}
