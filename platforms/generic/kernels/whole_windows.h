/* Windows of an image times constant lines of whole numbers. A sum of high words is off by less than one for every product
 * that is not 0. It is taken where that is known to be little beside the sizes of its products; else longer products
 * are added up, and where these are not enough, floats. */

/* Strides in elements; a window's floats are off by 2^-margin of the sizes of their products at most. */
typedef struct {
    int rows, columns, row_gap, column_gap;
    int height, width, row_step, column_step;
    int channels, step, length;
    uint32_t margin, bits;
} tilewright_whole_shape;

/* A window: its first row and column in the image, the exponent of its largest float, how many are not 0. */
typedef struct {
    const float *image;
    int row;
    int column;
    uint32_t top;
    int32_t count;
} tilewright_whole_window;

/* Lines of weights, the exponent of the largest of each; where and what weights are that whole numbers do not tell. */
typedef struct {
    const int32_t *lines;
    const uint8_t *tops;
    const uint32_t *odd_at;
    const float *odd;
} tilewright_whole_weights;

/* The first channel of a place of a window, NULL outside of the image. */
TILEWRIGHT_WHOLE_INLINE const float *tilewright_whole_place(const tilewright_whole_shape *shape, const tilewright_whole_window *window, int kh, int kw)
{
    const int row = window->row + kh * shape->row_gap, column = window->column + kw * shape->column_gap;
    const bool inside = row >= 0 && row < shape->height && column >= 0 && column < shape->width;
    return inside ? window->image + row * shape->row_step + column * shape->column_step : NULL;
}

TILEWRIGHT_WHOLE_ONCE tilewright_whole_window tilewright_whole_window_at(const tilewright_whole_shape *shape, const float *image, int row, int column)
{
    tilewright_whole_window window = {image, row, column, 0u, 0};
    tilewright_whole_seen seen = {0u, 0};
    for (int kh = 0; kh < shape->rows; kh++) {
        for (int kw = 0; kw < shape->columns; kw++) {
            const float *const place = tilewright_whole_place(shape, &window, kh, kw);
            if (place != NULL) {
                tilewright_whole_look(&seen, place, shape->channels, shape->step);
            }
        }
    }
    window.top = seen.largest >> 24;
    window.count = seen.count;
    return window;
}

/* The sum of a window and one line as known as it has to be, from its high words on; 0 where whole numbers do not tell. */
TILEWRIGHT_WHOLE_ONCE int tilewright_whole_known_sum(int64_t *sum, int *exponent, const tilewright_whole_shape *shape, const tilewright_whole_window *window,
                                                     const int32_t *line, uint32_t top)
{
    const uint32_t most = (uint32_t)window->count + 2u, further = shape->margin + 48u - shape->bits;
    const uint64_t needed = (uint64_t)most << further;
    uint64_t seen = 0;
    uint32_t sizes = 0;
    int64_t total = 0;
    for (int kh = 0; kh < shape->rows; kh++) {
        for (int kw = 0; kw < shape->columns; kw++) {
            const float *const place = tilewright_whole_place(shape, window, kh, kw);
            for (int c = 0; place != NULL && c < shape->channels; c++) {
                const float *const at = place + c * shape->step;
                if (tilewright_whole_bits(at) << 1 != 0u) {
                    int32_t number;
                    tilewright_whole_numbers(&number, at, 1, 1, window->top, 30);
                    const uint32_t left = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
                    const uint32_t right = line[c] < 0 ? 0u - (uint32_t)line[c] : (uint32_t)line[c];
                    const uint64_t product = ((uint64_t)left * right) >> 14;
                    sizes += (left >> 14) + (right >> 14) + 3u;
                    seen += product;
                    total += (number < 0) != (line[c] < 0) ? -(int64_t)product : (int64_t)product;
                    if (seen >= needed) {
                        return 1; /* the high words are enough */
                    }
                }
            }
            line += shape->channels;
        }
    }
    *sum = total;
    *exponent = (int)window->top + (int)top - 298;
    return seen >= (uint64_t)sizes << 20 ? 1 : 0;
}

/* The same sum of floats; those with a 0 add nothing where all are finite. */
TILEWRIGHT_WHOLE_ONCE float tilewright_whole_float_sum(const tilewright_whole_shape *shape, const tilewright_whole_window *window,
                                                       const tilewright_whole_weights *weights, int n)
{
    const int32_t *line = weights->lines + n * shape->length;
    const uint32_t *odd = weights->odd_at;
    uint32_t index = (uint32_t)n * (uint32_t)shape->length;
    float sum = 0.0f;
    for (int kh = 0; kh < shape->rows; kh++) {
        for (int kw = 0; kw < shape->columns; kw++) {
            const float *const place = tilewright_whole_place(shape, window, kh, kw);
            for (int c = 0; place != NULL && c < shape->channels; c++) {
                const float *const at = place + c * shape->step;
                const uint32_t here = index + (uint32_t)c;
                while (*odd < here) { /* whatever the data are, so that the time it takes is known */
                    odd++;
                }
                if (window->top == 255u || tilewright_whole_bits(at) << 1 != 0u) {
                    const uint32_t bits = tilewright_whole_float(line[c], (int)weights->tops[n] - 156);
                    float left, right;
                    tilewright_whole_store(&right, (int32_t)bits);
                    right = *odd == here ? weights->odd[odd - weights->odd_at] : right;
                    (void)memcpy(&left, TILEWRIGHT_WHOLE_AT(at), sizeof left);
                    sum += left * right;
                }
            }
            line += shape->channels;
            index += (uint32_t)shape->channels;
        }
    }
    return sum;
}

/* A result whose high words alone do not show that they are enough. */
TILEWRIGHT_WHOLE_ONCE float tilewright_whole_settled(int64_t sum, int exponent, int ordinary, const tilewright_whole_shape *shape,
                                                     const tilewright_whole_window *window, const tilewright_whole_weights *weights, int n,
                                                     const float *bias)
{
    const float start = bias != NULL ? *bias : 0.0f;
    if (ordinary != 0 && tilewright_whole_known_sum(&sum, &exponent, shape, window, weights->lines + n * shape->length, weights->tops[n]) != 0) {
        return sum == 0 ? start : tilewright_whole_biased(sum, exponent, bias); /* a bias may be less than a sum tells apart */
    }
    return tilewright_whole_float_sum(shape, window, weights, n) + start;
}

/* Up to sixteen results of a window, from line `first` on; biases if any, which may lie where the results go. */
TILEWRIGHT_WHOLE_ONCE void tilewright_whole_results(float *out, int many, const tilewright_whole_shape *shape, const tilewright_whole_window *window,
                                                    const tilewright_whole_weights *weights, int first, const float *biases)
{
    const int32_t *line = weights->lines + first * shape->length;
    int64_t sums[TILEWRIGHT_WHOLE_RESULTS] = {0};
    int32_t numbers[TILEWRIGHT_WHOLE_PART];
    int filled = 0;
    for (int kh = 0; kh < shape->rows; kh++) {
        for (int kw = 0; kw < shape->columns; kw++) {
            const float *place = tilewright_whole_place(shape, window, kh, kw);
            const bool last = kh == shape->rows - 1 && kw == shape->columns - 1;
            int left = shape->channels;
            while (left > 0) {
                const int room = TILEWRIGHT_WHOLE_PART - filled, taken = left < room ? left : room;
                left -= taken;
                if (place != NULL) {
                    tilewright_whole_numbers(numbers + filled, place, taken, shape->step, window->top, 30);
                    place = &place[taken * shape->step];
                } else {
                    for (int i = 0; i < taken; i++) {
                        numbers[filled + i] = 0;
                    }
                }
                filled += taken;
                if (filled == TILEWRIGHT_WHOLE_PART || (last && left == 0)) {
                    for (int n = 0; n < many; n += 4) {
                        tilewright_whole_four(sums + n, numbers, filled, line + n * shape->length, shape->length, many - n);
                    }
                    line += filled;
                    filled = 0;
                }
            }
        }
    }
    for (int i = 0; i < many; i++) {
        const int n = first + i;
        const uint32_t top = weights->tops[n];
        const float *const bias = biases != NULL ? biases + i : NULL;
        const int32_t half = window->count / 2;
        const int64_t sum = sums[i] + half;
        const uint64_t size = sum < 0 ? (uint64_t)0 - (uint64_t)sum : (uint64_t)sum;
        const uint32_t most = (uint32_t)window->count + 2u;
        const int exponent = (int)window->top + (int)top - 280, ordinary = tilewright_whole_ordinary(window->top, top, 30);
        if (window->count == 0) {
            out[i] = bias != NULL ? *bias : 0.0f;
        } else if (ordinary != 0 && size >= (uint64_t)most << shape->margin) {
            out[i] = tilewright_whole_biased(sum, exponent, bias);
        } else {
            out[i] = tilewright_whole_settled(sum, exponent, ordinary, shape, window, weights, n, bias);
        }
    }
}
