/* `bytes` bytes from anywhere to anywhere, words first where the core takes them from any address. */
static inline unsigned char *tilewright_gather(unsigned char *to, const void *from, int bytes)
{
    const unsigned char *at = from;
#ifdef TILEWRIGHT_XPULP
    for (; bytes >= 4; bytes -= 4) {
        uint32_t word;
        __asm__ volatile("p.lw %0, 4, %1\n\tp.sw %0, 4, %2" : "=&r"(word), "+r"(at), "+r"(to) : : "memory");
    }
#endif
    for (; bytes > 0; bytes--) {
        *to++ = *at++;
    }
    return to;
}

/* `bytes` times the same byte. */
static inline unsigned char *tilewright_fill(unsigned char *to, unsigned char value, int bytes)
{
#ifdef TILEWRIGHT_XPULP
    const uint32_t word = value * 0x01010101u;
    for (; bytes >= 4; bytes -= 4) {
        __asm__ volatile("p.sw %1, 4, %0" : "+r"(to) : "r"(word) : "memory");
    }
#endif
    for (; bytes > 0; bytes--) {
        *to++ = value;
    }
    return to;
}
