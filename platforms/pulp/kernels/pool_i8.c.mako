<%
(kh, kw), (sh, sw), (dh, dw) = k.kernel, k.strides, k.dilations
%>\
/* Channels are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->channels, core + 1, cores);
    for (int pixel = 0; pixel < tile->rows * tile->columns; pixel++) {
        const int top = pixel / tile->columns * ${sh};
        const int left = pixel % tile->columns * ${sw};
        for (int c = tilewright_share(tile->channels, core, cores); c < end; c++) {
            int32_t acc = ${-k.zero_point * kh * kw};
            for (int kh = 0; kh < ${kh}; kh++) {
                for (int kw = 0; kw < ${kw}; kw++) {
                    acc += x[((top + kh * ${dh}) * tile->in_columns + left + kw * ${dw}) * tile->channels + c];
                }
            }
            int32_t code = (int32_t)(${k.form});
            code = code < ${k.low} ? ${k.low} : code;
            code = code > ${k.high} ? ${k.high} : code;
            y[pixel * tile->channels + c] = (${k.y_type})code;
        }
    }
}
