/* A plane of gradients, a stride from each other, amid zeros. */
static void tilewright_spread(const int8_t *y, int y_row, int y_column, int height, int width, int down, int right, int top, int left, int rows, int columns, int8_t *put)
{
    for (int at = 0; at < rows * columns; at++) {
        put[at] = 0;
    }
    for (int row = 0; row < height; row++) {
        const int to = row * down + top;
        for (int column = 0; to >= 0 && to < rows && column < width; column++) {
            const int at = column * right + left;
            if (at >= 0 && at < columns) {
                put[to * columns + at] = y[row * y_row + column * y_column];
            }
        }
    }
}
