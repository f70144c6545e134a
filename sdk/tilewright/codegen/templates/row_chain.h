/* Moves bytes that do not overlap, in pieces that compilers move by words: a small C library may move single bytes. */
static inline void tilewright_move(void *to, const void *from, int size)
{
    unsigned char *const t = to;
    const unsigned char *const f = from;
    int i = 0;
    for (; i <= size - 32; i += 32) {
        (void)memcpy(t + i, f + i, 32);
    }
    for (; i <= size - 4; i += 4) {
        (void)memcpy(t + i, f + i, 4);
    }
    for (; i < size; i++) {
        t[i] = f[i];
    }
}
