/* One block for the cores' inner kernel: some pixels times the output channels from `y` to `y_end`. `x` is the first
 * byte of the first column and row that lie in the tile. The stream `w` holds per group of channels starts of the sums
 * (`starts`: bytes to those for the rows that are missing), weights (`words`: bytes to the first row that is there,
 * `rest`: bytes of the rows behind the last), and the numbers of the requantisation. `x_step` and `y_step` are bytes from
 * one pixel to the next. */
typedef struct {
    const void *x;
    const int32_t *w;
    unsigned char *y;
    unsigned char *y_end;
    int y_step;
    int row_step;
    int rows;
    int starts;
    int words;
    int rest;
    int x_step;
} tilewright_block;
