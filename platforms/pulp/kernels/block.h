/* One block for the cores' inner kernel: some pixels times the output channels from `y` to `y_end`. `x` is the first
 * byte of the first column and row that lie in the tile. The stream `w` holds per group of channels starts of the sums
 * (`starts`: bytes to those for the rows that are missing), weights (`words`: bytes to the first row that is there,
 * `rest`: bytes of the rows behind the last), and the numbers of the requantisation. `x_step` and `y_step` are bytes from
 * one pixel to the next. So many `units`, one after the other, lie `x_unit` and `y_unit` bytes apart. */
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
    int units;
    int x_unit;
    int y_unit;
} tilewright_block;

/* Where a core begins: column of blocks, line, group of output channels. */
typedef struct {
    int place, line, group;
} tilewright_place;

/* A division that no compiler turns into a second one for the remainder: it takes 30 cycles. */
static inline int tilewright_quotient(int dividend, int divisor)
{
#ifdef TILEWRIGHT_XPULP
    int quotient;
    __asm__("div %0, %1, %2" : "=r"(quotient) : "r"(dividend), "r"(divisor));
    return quotient;
#else
    return dividend / divisor;
#endif
}
