<%
q = k.requantise
padded = -(-k.depth // 4) * 4
%>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        for (int column = 0; column < ${k.columns}; column++) {
            const int32_t sum = acme_dot(a + row * ${k.depth}, w + column * ${padded}, ${padded}, start[column]);
            const int32_t code = (int32_t)(${q.c("sum", "column")});
            y[row * ${k.columns} + column] = (int8_t)(code < ${q.low} ? ${q.low} : (code > ${q.high} ? ${q.high} : code));
        }
    }
}
