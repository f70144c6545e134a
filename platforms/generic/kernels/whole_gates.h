/* Sums of rows with a vector that is a window of one place, from biases or other starts on: they may lie where the sums go. */
TILEWRIGHT_WHOLE_ONCE void tilewright_whole_gates(float *out, int rows, const tilewright_whole_shape *shape, const tilewright_whole_window *window,
                                                  const tilewright_whole_weights *weights, int first, const float *starts)
{
    for (int i = 0; i < rows; i += TILEWRIGHT_WHOLE_RESULTS) {
        const int left = rows - i, many = left < TILEWRIGHT_WHOLE_RESULTS ? left : TILEWRIGHT_WHOLE_RESULTS;
        tilewright_whole_results(out + i, many, shape, window, weights, first + i, starts != NULL ? starts + i : NULL);
    }
}
