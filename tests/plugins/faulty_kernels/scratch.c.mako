<% rows, depth, columns, zero_point = k %>\
static void ${f.name}(${f.parameters})
{
    int32_t *sums = scratch;
    for (int row = 0; row < ${rows}; row++) {
        for (int column = 0; column < ${columns}; column++) {
            sums[column] = acme_dot(a + row * ${depth}, w + column * ${depth}, ${depth}, start[column]);
        }
        for (int column = 0; column < ${columns}; column++) {
            const double code = nearbyint((double)sums[column] * (double)m[column]) + ${zero_point};
            y[row * ${columns} + column] = (int8_t)(code < -128.0 ? -128.0 : (code > 127.0 ? 127.0 : code));
        }
    }
}
