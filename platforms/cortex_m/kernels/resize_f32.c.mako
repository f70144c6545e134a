<%
e = k.extent
%>\
TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
    float *const joined = scratch;
    for (int row = 0; row < ${e.images * e.rows}; row++) {
        const int place = ${f"row % {e.rows}" if e.images > 1 else "row"};
        const float *const upper = x + ${f"row / {e.rows} * {e.image} + " if e.images > 1 else ""}row_places[place];
        ${k.joined}(
            upper, upper + ${e.source_columns * e.channels}, joined, row_weights[2 * place], row_weights[2 * place + 1],
            ${e.source_columns * e.channels});
        for (int column = 0; column < ${e.columns}; column++) {
            const float *const left = joined + column_places[column];
            ${k.joined}(
                left, left + ${e.channels}, y, column_weights[2 * column], column_weights[2 * column + 1], ${e.channels});
            y += ${e.channels};
        }
    }
}
