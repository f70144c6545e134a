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

/* `bytes` bytes of a word that is repeated. */
static inline unsigned char *tilewright_fill(unsigned char *to, uint32_t word, int bytes)
{
#ifdef TILEWRIGHT_XPULP
    for (; bytes >= 4; bytes -= 4) {
        __asm__ volatile("p.sw %1, 4, %0" : "+r"(to) : "r"(word) : "memory");
    }
#endif
    for (; bytes > 0; bytes--) {
        *to++ = (unsigned char)word;
        word = word >> 8 | word << 24;
    }
    return to;
}
