/* How the weights of four results and of some channels move at some taps: where gradient, operand and weights begin, how many
 * images, rows and columns meet (`middle` blocks of them between the edges of a row), and the elements between neighbours;
 * `y_lanes` and `w_lanes` are those of the results. Lanes and channels that there are not are 0 elements apart, they repeat
 * the first. The first tile begins the sums of slopes in `next`, the last one makes weights of them. */
typedef struct {
    const float *y, *x, *target;
    float *next;
    int images, rows, columns, middle;
    int y_lanes[4], w_lanes[4], y_row, y_image, x_plane, x_row, x_image, w_channel, first, last;
} tilewright_slopes;
