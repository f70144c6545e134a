/* Bytes that do not overlap are moved in pieces that compilers move by words: a small C library may move single bytes.
 * The first moves a multiple of 32 bytes, the second one of 4. */
static inline void tilewright_move32(void *to, const void *from, int size)
{
    unsigned char *const t = to;
    const unsigned char *const f = from;
    for (int i = 0; i < size; i += 32) {
        (void)memcpy(t + i, f + i, 32);
    }
}

static inline void tilewright_move4(void *to, const void *from, int size)
{
    unsigned char *const t = to;
    const unsigned char *const f = from;
    int i = 0;
    for (; i <= size - 32; i += 32) {
        (void)memcpy(t + i, f + i, 32);
    }
    for (; i < size; i += 4) {
        (void)memcpy(t + i, f + i, 4);
    }
}

static inline void tilewright_move(void *to, const void *from, int size)
{
    unsigned char *const t = to;
    const unsigned char *const f = from;
    int i = 0;
    for (; i <= size - 32; i += 32) {
        (void)memcpy(t + i, f + i, 32);
    }
    for (; i < size; i++) {
        t[i] = f[i];
    }
}
