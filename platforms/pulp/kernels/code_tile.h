/* One tile of rows and outputs, and the bits of the float that a code times a factor counts. */
typedef struct {
    int rows, columns, unit;
} tilewright_code_tile;
