/* Some columns of a product: the row, the stream of the first column, its result. */
typedef struct {
    const void *x;
    const int32_t *w;
    unsigned char *y;
} tilewright_column_walk;
