/* Convolutions row by row from copies of the rows that a result reads, so that results may lie over the operand. */
static void tilewright_convolve_rows(tilewright_gathering g, const tilewright_product *row, const float *x,
                                     tilewright_steps from, int rows, int size, int begin, float *window)
{
    const int columns = row->size[1], taps = row->kernel[0];
    for (int at = 0; at < rows; at++, g.y += row->y.row) {
        for (int channel = 0; channel < row->channels; channel++) {
            float *const lines = window + channel * row->x.channel;
            const int kept = at ? taps - 1 : 0;
            memmove(lines, lines + columns, (size_t)(kept * columns) * sizeof *lines);
            for (int line = kept; line < taps; line++) {
                const int place = at - begin + line, inside = place >= 0 && place < size;
                const float *source = x + channel * from.channel + (inside ? place : 0) * from.row;
                float *put = lines + line * columns;
                for (int i = 0; i < columns; i++, source += from.column) {
                    *put++ = inside ? *source : 0.0f;
                }
            }
        }
        tilewright_convolve(&g, row);
    }
}
