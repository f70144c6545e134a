<% p, line = k.product, k.line %>\
${f.storage} void ${f.name}_matrix(const float *a, const float *b, ${"const float *bias, " if k.bias else ""}float *y, int32_t *column)
{
    int32_t *const rows = column + ${p.depth};
    tilewright_whole_line of_rows[${line.at_once}];
    for (int row = 0; row < ${p.rows}; row += ${line.at_once}) {
        const int many = row < ${p.rows - line.at_once} ? ${line.at_once} : ${p.rows} - row;
        for (int r = 0; r < many; r++) {
            of_rows[r] = tilewright_whole_line_of(rows + r * ${p.depth}, a + (row + r) * ${p.a_row}, ${p.depth}, ${p.a_step}, ${line.bits}, ${line.share});
        }
        for (int n = 0; n < ${p.columns}; n++) {
            const float *const from = b + n * ${p.b_column};
            const tilewright_whole_line of_column = tilewright_whole_line_of(column, from, ${p.depth}, ${p.b_step}, ${line.bits}, ${line.share});
            for (int r = 0; r < many; r++) {
                float v;
                if (!tilewright_whole_product(&v, rows + r * ${p.depth}, of_rows[r], column, of_column, ${p.depth}, ${line.bits}, ${line.share}, ${"&" + k.bias if k.bias else "NULL"})) {
                    v = tilewright_whole_exact(0.0f, a + (row + r) * ${p.a_row}, ${p.a_step}, from, ${p.b_step}, ${p.depth}, of_rows[r].top != 255u && of_column.top != 255u);
% if k.bias:
                    v += ${k.bias};
% endif
                }
                y[(row + r) * ${p.y_row} + n * ${p.y_column}] = ${k.clamp};
            }
        }
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
% for head in p.loops:
${head}
% endfor
${p.indent}${f.name}_matrix(${p.place("a")}, ${k.right}, ${"bias, " if k.bias else ""}${p.place("y")}, (int32_t *)(void *)scratch);
}
