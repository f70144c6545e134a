<% q = k.requantise %>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        for (int column = 0; column < ${k.columns}; column++) {
            const int32_t sum = acme_dot(a + row * ${k.depth}, w + column * ${k.depth}, ${k.depth}, start[column]);
            const int64_t code = (sum * numerator[column] + half[column]) >> shift[column];
            const int64_t placed = code + zero[0];
            y[row * ${k.columns} + column] = (int8_t)(placed < ${q.low} ? ${q.low} : (placed > ${q.high} ? ${q.high} : placed));
        }
    }
}
