<% p = k.product %>\
${k.attribute} ${f.storage} void ${f.name}_block(const float *${f.restrict}a, const float *${f.restrict}b, float *${f.restrict}y)
{
    float acc[${k.at_once}][${k.width}];
    for (int m = 0; m < ${k.at_once}; m++) {
        for (int n = 0; n < ${k.width}; n++) {
            acc[m][n] = 0.0f;
        }
    }
    for (int i = 0; i < ${p.depth}; i++) {
        for (int m = 0; m < ${k.at_once}; m++) {
            for (int n = 0; n < ${k.width}; n++) {
                acc[m][n] += a[${added(times("m", p.a_row), times("i", p.a_step))}] * b[${added(times("i", p.b_step), times("n", p.b_column))}];
            }
        }
    }
    for (int m = 0; m < ${k.at_once}; m++) {
        for (int n = 0; n < ${k.width}; n++) {
            const float v = acc[m][n];
            y[${added(times("m", p.y_row), times("n", p.y_column))}] = ${k.clamp};
        }
    }
}

${f.storage} void ${f.name}_matrix(const float *a, const float *b, float *y)
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
