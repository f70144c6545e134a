/* A run of bytes. Libraries made for size copy byte by byte, and gcc calls them for plain loops. */
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
        (void)memcpy(&a, at, 4);
        (void)memcpy(&b, at + 4, 4);
        (void)memcpy(put, &a, 4);
        (void)memcpy(put + 4, &b, 4);
        at += 8;
        put += 8;
    }
    if (bytes >= 4) {
        uint32_t a;
        (void)memcpy(&a, at, 4);
        (void)memcpy(put, &a, 4);
        at += 4;
        put += 4;
        bytes -= 4;
    }
    if (bytes >= 2) {
        uint16_t a;
        (void)memcpy(&a, at, 2);
        (void)memcpy(put, &a, 2);
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
