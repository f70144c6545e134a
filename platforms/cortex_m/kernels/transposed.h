/* A phase of a transposed convolution: its results, how many taps meet an input, where the first of them reads, the inputs
 * of a pixel, and where its weights and its table begin. It takes a tilewright_phase. */
typedef struct {
    int first_row;
    int rows;
    int taps_down;
    int top;
    int first_column;
    int columns;
    int taps_across;
    int left;
    int depth;
    int weights;
    int table;
} tilewright_phase;
