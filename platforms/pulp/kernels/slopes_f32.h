/* What weights of four results and of some channels at a tap move by: where gradient and operand begin, how many images, rows
 * and columns meet there, and the elements between neighbours; `y_lanes` are those of the results. */
typedef struct {
    const float *y, *x;
    int images, rows, columns;
    int y_lanes[4], y_row, y_image, x_plane, x_row, x_image;
} tilewright_slopes;
