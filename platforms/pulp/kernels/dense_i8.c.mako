<% q = k.requantise %>\
/* Columns are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->columns, core + 1, cores);
    for (int n = tilewright_share(tile->columns, core, cores); n < end; n++) {
        for (int m = 0; m < tile->rows; m++) {
            int32_t acc = bias[n];
            for (int i = 0; i < ${k.depth}; i++) {
                acc += a[m * ${k.depth} + i] * w[n * ${k.depth} + i];
            }
            int32_t code = ${q.code("acc", "n")};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[m * tile->columns + n] = (${k.y_type})code;
        }
    }
}
