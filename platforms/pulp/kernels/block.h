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

/* Work of a tile in sixteenths of a block: of a column of blocks, of a column whose blocks have one pixel; `top` is what
 * the first line of a column is short of. Of `places` columns the first `wide` have blocks of all pixels. */
typedef struct {
    int wide, places, groups;
    int column, narrow, pixel, top;
} tilewright_shares;

/* Edges count where the core with most work gains a block. */
static inline tilewright_shares tilewright_shared(int wide, int places, int lines, int groups, int pixel, int top, int bottom, int cores)
{
    const int plain = lines * groups * 16, column = plain - (top + bottom) * groups;
    const int all = wide * 16 + (places - wide) * pixel;
    const unsigned most = (unsigned)tilewright_share(all * column - 1, 1, cores), before = (unsigned)tilewright_share(all * plain - 1, 1, cores);
    const bool gained = (most >> 8) < (before >> 8);
    const int counted = gained ? column : plain;
    const int sixteenths = counted * pixel;
    const unsigned narrow = (unsigned)sixteenths >> 4;
    const tilewright_shares shares = {wide, places, groups, counted, (int)narrow, pixel, gained ? top * groups : 0};
    return shares;
}

/* Where a core begins: column of blocks, line, group of output channels. */
typedef struct {
    int place, line, group;
} tilewright_place;

static inline tilewright_place tilewright_first_block(const tilewright_shares *shares, int core, int cores)
{
    const int all = shares->wide * shares->column + (shares->places - shares->wide) * shares->narrow;
    int rest = tilewright_share(all, core, cores), here = shares->wide > 0 ? shares->column : shares->narrow;
    tilewright_place at = {0, 0, 0};
    while (at.place < shares->places && rest >= here) {
        rest -= here;
        at.place++;
        here = at.place < shares->wide ? shares->column : shares->narrow;
    }
    if (rest > 0) {
        const int sixteenths = (at.place < shares->wide ? rest : rest * 16 / shares->pixel) + shares->top + 8;
        const unsigned nearest = (unsigned)sixteenths >> 4;
        const int block = (int)nearest;
        at.line = tilewright_quotient(block, shares->groups);
        at.group = block - at.line * shares->groups;
    }
    return at;
}
