/* A plane of codes less their zero point, amid zeros. */
static void tilewright_plane(const int8_t *x, int x_row, int x_column, int height, int width, int top, int left, int rows, int columns, int32_t zero, int16_t *put)
{
    for (int at = 0; at < rows * columns; at++) {
        put[at] = 0;
    }
    for (int row = top < 0 ? -top : 0; row < height && row + top < rows; row++) {
        const int8_t *const from = x + row * x_row;
        int16_t *const to = put + (row + top) * columns + left;
        for (int column = left < 0 ? -left : 0; column < width && column + left < columns; column++) {
            to[column] = (int16_t)(from[column * x_column] - zero);
        }
    }
}
