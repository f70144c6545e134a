/* A run of words. Libraries made for size copy byte by byte, and gcc calls them for plain loops. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* most lengths are constants, of which little is left */
#endif
static inline void tilewright_run_words(void *to, const void *from, int words)
{
    uint8_t *put = __builtin_assume_aligned(to, 4);
    const uint8_t *at = __builtin_assume_aligned(from, 4);
    for (; words >= 4; words -= 4) {
        uint32_t a, b, c, d;
        (void)memcpy(&a, at, 4);
        (void)memcpy(&b, at + 4, 4);
        (void)memcpy(&c, at + 8, 4);
        (void)memcpy(&d, at + 12, 4);
        (void)memcpy(put, &a, 4);
        (void)memcpy(put + 4, &b, 4);
        (void)memcpy(put + 8, &c, 4);
        (void)memcpy(put + 12, &d, 4);
        at += 16;
        put += 16;
    }
    for (; words > 0; words--) {
        uint32_t a;
        (void)memcpy(&a, at, 4);
        (void)memcpy(put, &a, 4);
        at += 4;
        put += 4;
    }
}
