/* One tile of attention: queries of all heads, and how many belong to one. */
typedef struct {
    int lines, queries;
} tilewright_attention_tile;

/* A query's words of high bytes, then those of its low bytes, from its whole numbers; both may be in one place. */
static inline void tilewright_attention_bytes(const int16_t *query, int depth, uint32_t *high, uint32_t *low)
{
    for (int e = 0; e < depth; e += 4) {
        uint32_t upper = 0, lower = 0;
        for (int i = 3; i >= 0; i--) {
            const uint32_t bits = (uint32_t)query[e + i];
            upper = upper << 8 | (bits >> 8 & 255u);
            lower = lower << 8 | (bits & 255u);
        }
        *high++ = upper;
        *low++ = lower;
    }
}
