<%
p, q = k.product, k.requantise
%>\
${k.attribute} ${f.storage} void ${f.name}_block(const ${k.a_type} *${f.restrict}a, const ${k.b_type} *${f.restrict}b, ${k.y_type} *${f.restrict}y)
{
    int32_t acc[${k.at_once}][${k.width}];
    for (int m = 0; m < ${k.at_once}; m++) {
        for (int n = 0; n < ${k.width}; n++) {
            acc[m][n] = 0;
        }
    }
    for (int i = 0; i < ${p.depth}; i++) {
        for (int m = 0; m < ${k.at_once}; m++) {
            const int32_t v = a[m * ${p.a_row} + i * ${p.a_step}] - (${k.a_zero});
            for (int n = 0; n < ${k.width}; n++) {
                acc[m][n] += v * (b[i * ${p.b_step} + n * ${p.b_column}] - (${k.b_zero}));
            }
        }
    }
    for (int m = 0; m < ${k.at_once}; m++) {
        for (int n = 0; n < ${k.width}; n++) {
            int32_t code = ${q.code("acc[m][n]")};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[m * ${p.y_row} + n * ${p.y_column}] = (${k.y_type})code;
        }
    }
}

${f.storage} void ${f.name}_matrix(const ${k.a_type} *a, const ${k.b_type} *b, ${k.y_type} *y)
{
    for (int row = 0; row < ${p.rows}; row += ${k.at_once}) {
% if p.a_row or p.y_row:
        const int m = row < ${p.rows - k.at_once} ? row : ${p.rows - k.at_once};
% endif
        for (int column = 0; column < ${p.columns}; column += ${k.width}) {
% if p.b_column or p.y_column:
            const int n = column < ${p.columns - k.width} ? column : ${p.columns - k.width};
% endif
            ${f.name}_block(${added("a", times("m", p.a_row))}, ${added("b", times("n", p.b_column))}, ${added("y", times("m", p.y_row), times("n", p.y_column))});
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
