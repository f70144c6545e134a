<% rows, depth, columns, zero_point = k
padded = -(-depth // 4) * 4 %>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${rows}; row++) {
        for (int column = 0; column < ${columns}; column++) {
            const int32_t sum = acme_dot(a + row * ${depth}, w + column * ${padded}, ${padded}, start[column]);
            const double code = nearbyint((double)sum * (double)m[column]) + ${zero_point};
            y[row * ${columns} + column] = (int8_t)(code < -128.0 ? -128.0 : (code > 127.0 ? 127.0 : code));
        }
    }
}
