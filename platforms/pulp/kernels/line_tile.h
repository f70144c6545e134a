/* One tile of rows and columns of results. */
typedef struct {
    int rows, columns;
} tilewright_line_tile;
