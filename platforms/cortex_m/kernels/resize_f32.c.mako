TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
    float *const joined = scratch;
    for (int row = 0; row < ${k.images * k.rows}; row++) {
        const int place = ${f"row % {k.rows}" if k.images > 1 else "row"};
        const float *const upper = x + ${f"row / {k.rows} * {k.image} + " if k.images > 1 else ""}row_places[place];
        ${k.joined}(
            upper, upper + ${k.source_columns * k.channels}, joined, row_weights[2 * place], row_weights[2 * place + 1],
            ${k.source_columns * k.channels});
        for (int column = 0; column < ${k.columns}; column++) {
            const float *const left = joined + column_places[column];
            ${k.joined}(
                left, left + ${k.channels}, y, column_weights[2 * column], column_weights[2 * column + 1], ${k.channels});
            y += ${k.channels};
        }
    }
}
