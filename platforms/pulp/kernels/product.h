/* Four rows times four packed columns: where they are, four inputs a word, and the sums of row after row. */
typedef struct {
    const void *rows[4];
    const uint32_t *packed;
    int words;
    int32_t sums[16];
} tilewright_product_block;
