/* Four rows times four packed columns, so many `units` below each other: where rows and columns are, four inputs a word,
 * the starts of the columns' and of the rows' sums, and the results of row after row, `y_step` bytes apart. */
typedef struct {
    const void *rows[4];
    const uint32_t *packed;
    const int32_t *starts;
    const int32_t *lines;
    void *y;
    int y_step;
    int units;
} tilewright_product_block;
