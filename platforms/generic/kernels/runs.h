/* Copies runs of elements: by words where elements are made of words, else byte by byte or as the core may. Libraries made for
 * size copy single bytes, and gcc calls them for plain loops too. */
#if defined(__GNUC__)
__attribute__((always_inline)) /* most lengths are constants, of which little is left */
#endif
static inline void tilewright_run_words(void *to, const void *from, int words)
{
#if defined(__GNUC__) && (defined(__arm__) || defined(__riscv))
    uint8_t *put = __builtin_assume_aligned(to, 4);
    const uint8_t *at = __builtin_assume_aligned(from, 4);
    for (; words >= 4; words -= 4) {
        uint32_t a, b, c, d;
        (void)memcpy(&a, (const void *)at, 4);
        (void)memcpy(&b, (const void *)(at + 4), 4);
        (void)memcpy(&c, (const void *)(at + 8), 4);
        (void)memcpy(&d, (const void *)(at + 12), 4);
        (void)memcpy((void *)put, &a, 4);
        (void)memcpy((void *)(put + 4), &b, 4);
        (void)memcpy((void *)(put + 8), &c, 4);
        (void)memcpy((void *)(put + 12), &d, 4);
        at += 16;
        put += 16;
    }
    for (; words > 0; words--) {
        uint32_t a;
        (void)memcpy(&a, (const void *)at, 4);
        (void)memcpy((void *)put, &a, 4);
        at += 4;
        put += 4;
    }
#else
    (void)memcpy(to, from, 4u * (size_t)words);
#endif
}

#if defined(__GNUC__)
__attribute__((always_inline)) /* most lengths are constants, of which little is left */
#endif
static inline void tilewright_run_bytes(void *to, const void *from, int bytes)
{
#if defined(__ARM_FEATURE_UNALIGNED)
    uint8_t *put = to;
    const uint8_t *at = from;
    for (; bytes >= 8; bytes -= 8) {
        uint32_t a, b;
        (void)memcpy(&a, (const void *)at, 4);
        (void)memcpy(&b, (const void *)(at + 4), 4);
        (void)memcpy((void *)put, &a, 4);
        (void)memcpy((void *)(put + 4), &b, 4);
        at += 8;
        put += 8;
    }
    if (bytes >= 4) {
        uint32_t a;
        (void)memcpy(&a, (const void *)at, 4);
        (void)memcpy((void *)put, &a, 4);
        at += 4;
        put += 4;
        bytes -= 4;
    }
    if (bytes >= 2) {
        uint16_t a;
        (void)memcpy(&a, (const void *)at, 2);
        (void)memcpy((void *)put, &a, 2);
        at += 2;
        put += 2;
        bytes -= 2;
    }
    if (bytes > 0) {
        *put = *at;
    }
#else
    (void)memcpy(to, from, (size_t)bytes);
#endif
}

#define TILEWRIGHT_RUN(to, from, count)                                                     \
    do {                                                                                    \
        if (sizeof *(to) % 4u == 0u) {                                                      \
            tilewright_run_words(to, from, (int)sizeof *(to) / 4 * (count));                \
        } else {                                                                            \
            tilewright_run_bytes(to, from, (int)sizeof *(to) * (count));                    \
        }                                                                                   \
    } while (0)
