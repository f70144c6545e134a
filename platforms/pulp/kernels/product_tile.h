/* One tile of products: so many matrices of rows and columns of results; the right-hand sides lie `right` bytes apart. */
typedef struct {
    int matrices, rows, columns, right;
} tilewright_product_tile;
