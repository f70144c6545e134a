/* One tile of softmax: lines that are summed, and how far the codes of a line lie apart. */
typedef struct {
    int lines, inner;
} tilewright_softmax_tile;
