<%
q = k.requantise
(kh, kw), (sh, sw), (dh, dw) = k.kernel, k.strides, k.dilations
%>\
/* Pixels are shared among the cores, or channels where there are fewer pixels than cores. */
static void ${f.name}(${f.parameters})
{
    const int columns = tile->columns, channels = tile->channels;
    const int in_rows = tile->in_rows, in_columns = tile->in_columns;
    const int pixels = tile->rows * columns;
    const int split = pixels >= cores;
    const int first_pixel = split ? tilewright_share(pixels, core, cores) : 0;
    const int end_pixel = split ? tilewright_share(pixels, core + 1, cores) : pixels;
    const int first_channel = split ? 0 : tilewright_share(channels, core, cores);
    const int end_channel = split ? channels : tilewright_share(channels, core + 1, cores);
    for (int pixel = first_pixel; pixel < end_pixel; pixel++) {
        const int top = pixel / columns * ${sh} - tile->top;
        const int left = pixel % columns * ${sw} - tile->left;
        for (int g = first_channel; g < end_channel; g++) {
            int32_t acc = b[g];
            const ${k.w_type} *taps = w + g * ${kh * kw};
            for (int kh = 0; kh < ${kh}; kh++) {
                const int row = top + kh * ${dh};
                for (int kw = 0; kw < ${kw}; kw++) {
                    const int column = left + kw * ${dw};
                    const bool inside = row >= 0 && row < in_rows && column >= 0 && column < in_columns;
                    const int from = inside ? x[(row * in_columns + column) * channels + g] : ${k.zero_point};
                    acc += from * *taps++;
                }
            }
            int32_t code = ${q.code("acc", "g")};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[pixel * channels + g] = (${k.y_type})code;
        }
    }
}
