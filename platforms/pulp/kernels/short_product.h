/* Rows times four packed columns: the first row, the columns, the starts of the rows' sums, and the results, `y_step` bytes
 * from row to row. */
typedef struct {
    const void *x;
    const uint32_t *packed;
    const int32_t *lines;
    void *y;
    int y_step;
    int rows;
} tilewright_short_product;
