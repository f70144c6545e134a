/* Windows of one channel, whose sums are seldom too small to be known from whole numbers. */

/* Places of a window along an axis, elements of the image there, elements between its places and between elements. */
typedef struct {
    int kernel;
    int size;
    int dilation;
    int step;
} tilewright_whole_axis;

/* Whether the sizes of all products of a window together reach what is needed, `enough` in any case. */
static int tilewright_whole_window_reaches(const int32_t *const *rows, const int32_t *weights, int column, tilewright_whole_axis h, tilewright_whole_axis w,
                                           uint32_t sizes, int share, uint64_t enough)
{
    uint64_t seen = 0;
    for (int kh = 0; kh < h.kernel; kh++) {
        const int32_t *const numbers = rows[kh] + column;
        for (int kw = 0; kw < w.kernel; kw++) {
            const int32_t left = numbers[kw * w.dilation], right = weights[kh * w.kernel + kw];
            const uint32_t a = left < 0 ? 0u - (uint32_t)left : (uint32_t)left, b = right < 0 ? 0u - (uint32_t)right : (uint32_t)right;
            sizes += a >> share;
            seen += (uint64_t)a * b;
            if (seen >= enough) {
                return 1;
            }
        }
    }
    return seen >= (uint64_t)sizes << (share + 20) ? 1 : 0;
}

/* The sum of a window's products as floats; it begins at a row and a column, which may lie outside. */
static float tilewright_whole_window_exact(const float *x, const float *weights, int top, int left, tilewright_whole_axis h, tilewright_whole_axis w, int finite)
{
    float sum = 0.0f;
    for (int kh = 0; kh < h.kernel; kh++) {
        const int row = top + kh * h.dilation;
        for (int kw = 0; kw < w.kernel && row >= 0 && row < h.size; kw++) {
            const int column = left + kw * w.dilation;
            if (column >= 0 && column < w.size) {
                sum = tilewright_whole_exact(sum, x + row * h.step + column * w.step, 1, weights + kh * w.kernel + kw, 1, 1, finite);
            }
        }
    }
    return sum;
}
