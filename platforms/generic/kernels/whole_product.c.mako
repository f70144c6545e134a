<% p = k.product %>\
${f.storage} void ${f.name}_matrix(const float *a, const float *b, float *y)
{
    int32_t numbers[${k.rows * k.part}], columns[${k.columns * k.part}];
    int64_t sums[${4 * k.rows}];
    tilewright_whole_seen of_rows[${k.rows}], of_columns[${k.columns}];
    for (int row = 0; row < ${p.rows}; row += ${k.rows}) {
        const int many = row < ${p.rows - k.rows} ? ${k.rows} : ${p.rows} - row;
        for (int r = 0; r < many; r++) {
            of_rows[r].largest = 0;
            of_rows[r].count = 0;
            tilewright_whole_look(&of_rows[r], ${added("a", times("(row + r)", p.a_row))}, ${p.depth}, ${p.a_step});
% if k.part == p.depth:
            tilewright_whole_numbers(numbers + r * ${k.part}, ${added("a", times("(row + r)", p.a_row))}, ${p.depth}, ${p.a_step}, of_rows[r].largest >> 24, 30);
% endif
        }
        for (int n = 0; n < ${p.columns}; n += ${k.columns}) {
            const int width = n < ${p.columns - k.columns} ? ${k.columns} : ${p.columns} - n;
            for (int c = 0; c < width; c++) {
                of_columns[c].largest = 0;
                of_columns[c].count = 0;
                tilewright_whole_look(&of_columns[c], ${added("b", times("(n + c)", p.b_column))}, ${p.depth}, ${p.b_step});
            }
            for (int i = 0; i < 4 * many; i++) {
                sums[i] = 0;
            }
            for (int at = 0; at < ${p.depth}; at += ${k.part}) {
                const int length = at < ${p.depth - k.part} ? ${k.part} : ${p.depth} - at;
                for (int c = 0; c < width; c++) {
                    tilewright_whole_numbers(columns + c * ${k.part}, ${added("b", times("(n + c)", p.b_column), times("at", p.b_step))}, length, ${p.b_step}, of_columns[c].largest >> 24, 30);
                }
                for (int r = 0; r < many; r++) {
% if k.part != p.depth:
                    tilewright_whole_numbers(numbers + r * ${k.part}, ${added("a", times("(row + r)", p.a_row), times("at", p.a_step))}, length, ${p.a_step}, of_rows[r].largest >> 24, 30);
% endif
                    tilewright_whole_four(&sums[4 * r], numbers + r * ${k.part}, length, columns, ${k.part}, width);
                }
            }
            for (int r = 0; r < many; r++) {
                for (int c = 0; c < width; c++) {
                    const float v = tilewright_whole_paired(sums[4 * r + c], &of_rows[r], &of_columns[c], ${added("a", times("(row + r)", p.a_row))}, ${p.a_step}, ${added("b", times("(n + c)", p.b_column))}, ${p.b_step}, ${p.depth}, ${k.margin});
                    y[${added(times("(row + r)", p.y_row), times("(n + c)", p.y_column))}] = ${k.clamp};
                }
            }
        }
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
% for head in p.loops:
${head}
% endfor
${p.indent}${f.name}_matrix(${p.place("a")}, ${p.place("b")}, ${p.place("y")});
% for end in p.ends:
${end}
% endfor
}
