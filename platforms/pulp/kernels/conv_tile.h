/* One tile of a convolution or pool, dense and channels last: results, the box of inputs, and the padding before it. */
typedef struct {
    int rows, columns, channels;
    int in_rows, in_columns;
    int top, left;
} tilewright_conv_tile;
