/* Convolutions row by row from copies of the rows that a result reads, so that results may lie over the operand. */
typedef struct {
    int images, rows, size, stride, begin; /* rows of results and of the operand, and how many of these each result skips */
    tilewright_steps from;
    int y_image;
} tilewright_row_copies;

static void tilewright_convolve_rows(const tilewright_gathering *whole, const tilewright_product *row,
                                     const tilewright_row_copies *copies, const float *x, float *window)
{
    const int columns = row->size[1], taps = row->kernel[0], stays = taps > copies->stride ? taps - copies->stride : 0;
    for (int at = 0; at < copies->images * copies->rows; at++) {
        const int image = at / copies->rows, top = at % copies->rows * copies->stride - copies->begin;
        const int kept = at % copies->rows ? stays : 0;
        tilewright_gathering g = *whole;
        g.y += image * copies->y_image + at % copies->rows * row->y.row;
        for (int channel = 0; channel < row->channels; channel++) {
            float *const lines = window + channel * row->x.channel;
            tilewright_copied(lines, lines + (taps - kept) * columns, kept * columns);
            for (int line = kept; line < taps; line++) {
                const int place = top + line, inside = place >= 0 && place < copies->size;
                const float *source =
                    x + image * copies->from.image + channel * copies->from.channel + (inside ? place : 0) * copies->from.row;
                float *put = lines + line * columns;
                for (int i = 0; i < columns; i++, source += copies->from.column) {
                    *put++ = inside ? *source : 0.0f;
                }
            }
        }
        tilewright_convolve(&g, row);
    }
}
