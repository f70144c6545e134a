<% q = k.requantise %>\
static void ${f.name}(${f.parameters})
{
    int32_t *sums = scratch;
    for (int row = 0; row < ${k.rows}; row++) {
        for (int column = 0; column < ${k.columns}; column++) {
            sums[column] = acme_dot(a + row * ${k.depth}, w + column * ${k.depth}, ${k.depth}, start[column]);
        }
        for (int column = 0; column < ${k.columns}; column++) {
            const int32_t code = (int32_t)(${q.c("sums[column]", "column")});
            y[row * ${k.columns} + column] = (int8_t)(code < ${q.low} ? ${q.low} : (code > ${q.high} ? ${q.high} : code));
        }
    }
}
