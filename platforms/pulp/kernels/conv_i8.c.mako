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
        for (int oc = first_channel; oc < end_channel; oc++) {
            int32_t acc = b[oc];
            const ${k.w_type} *taps = w + oc * ${kh * kw * k.depth};
            for (int kh = 0; kh < ${kh}; kh++) {
                const int row = top + kh * ${dh};
                for (int kw = 0; kw < ${kw}; kw++) {
                    const int column = left + kw * ${dw};
                    if (row >= 0 && row < in_rows && column >= 0 && column < in_columns) {
                        const ${k.x_type} *from = x + (row * in_columns + column) * ${k.depth};
                        for (int ic = 0; ic < ${k.depth}; ic++) {
                            acc += from[ic] * taps[ic];
                        }
% if k.zero_point:
                    } else {
                        for (int ic = 0; ic < ${k.depth}; ic++) {
                            acc += ${k.zero_point} * taps[ic];
                        }
% endif
                    }
                    taps += ${k.depth};
                }
            }
            int32_t code = ${q.code("acc", "oc")};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[pixel * channels + oc] = (${k.y_type})code;
        }
    }
}
