/* Windows of a ConvInteger. It brings tilewright_window and takes a tilewright_window_axis. */
typedef struct {
    int size;
    int kernel;
    int stride;
    int dilation;
    int pad;
} tilewright_window_axis;

/* The window of one pixel, channel by channel as the weights lie; `fill` stands where it leaves the input. */
static void tilewright_window(
    const uint8_t *x, uint8_t *to, int channels, const tilewright_window_axis *h,
    const tilewright_window_axis *w, int row, int column, uint8_t fill)
{
    const int top = row * h->stride - h->pad;
    const int left = column * w->stride - w->pad;
    const int whole = w->dilation == 1 && left >= 0 && left + w->kernel <= w->size;
    for (int c = 0; c < channels; c++) {
        for (int i = 0; i < h->kernel; i++) {
            const int y = top + i * h->dilation;
            if (y < 0 || y >= h->size) {
                (void)memset(to, fill, (size_t)w->kernel);
            } else if (whole != 0) {
                memcpy(to, x + y * w->size + left, (size_t)w->kernel);
            } else {
                for (int j = 0; j < w->kernel; j++) {
                    const int at = left + j * w->dilation;
                    to[j] = at >= 0 && at < w->size ? x[y * w->size + at] : fill;
                }
            }
            to += w->kernel;
        }
        x += h->size * w->size;
    }
}
