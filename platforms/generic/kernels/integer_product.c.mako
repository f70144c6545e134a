<%
p = k.product
%>\
${k.attribute} ${f.storage} void ${f.name}_block(const ${k.a_type} *${f.restrict}a, const ${k.b_type} *${f.restrict}b, int32_t *${f.restrict}y, int32_t a_zero, int32_t b_zero)
{
    int32_t acc[${k.at_once}][${k.width}];
    for (int m = 0; m < ${k.at_once}; m++) {
        for (int n = 0; n < ${k.width}; n++) {
            acc[m][n] = 0;
        }
    }
    for (int i = 0; i < ${p.depth}; i++) {
        for (int m = 0; m < ${k.at_once}; m++) {
            const int32_t v = a[m * ${p.a_row} + i * ${p.a_step}] - a_zero;
            for (int n = 0; n < ${k.width}; n++) {
                acc[m][n] += v * (b[i * ${p.b_step} + n * ${p.b_column}] - b_zero);
            }
        }
    }
    for (int m = 0; m < ${k.at_once}; m++) {
        for (int n = 0; n < ${k.width}; n++) {
            y[m * ${p.y_row} + n * ${p.y_column}] = acc[m][n];
        }
    }
}

${f.storage} void ${f.name}_matrix(const ${k.a_type} *a, const ${k.b_type} *b, int32_t *y, int32_t a_zero, int32_t b_zero)
{
    for (int row = 0; row < ${p.rows}; row += ${k.at_once}) {
        const int m = row < ${p.rows - k.at_once} ? row : ${p.rows - k.at_once};
        for (int column = 0; column < ${p.columns}; column += ${k.width}) {
            const int n = column < ${p.columns - k.width} ? column : ${p.columns - k.width};
            ${f.name}_block(a + m * ${p.a_row}, b + n * ${p.b_column}, y + m * ${p.y_row} + n * ${p.y_column}, a_zero, b_zero);
        }
    }
}

% if k.windows:
${f.storage} void ${f.name}(${f.parameters})
{
    static const tilewright_window_axis rows = ${k.windows.rows}, columns = ${k.windows.columns};
    ${k.a_type} *const windows = (${k.a_type} *)(void *)scratch;
    for (int image = 0; image < ${k.windows.images}; image++) {
        for (int pixel = 0; pixel < ${k.windows.image}; pixel += ${p.rows}) {
            const int first = pixel < ${k.windows.image - p.rows} ? pixel : ${k.windows.image - p.rows};
            for (int j = 0; j < ${p.rows}; j++) {
                tilewright_window((const uint8_t *)x + ${times("image", k.windows.inputs * k.windows.plane)}, (uint8_t *)windows + ${times("j", p.depth)}, ${k.windows.inputs}, &rows, &columns, (first + j) / ${k.windows.across}, (first + j) % ${k.windows.across}, (uint8_t)${k.a_zero});
            }
            ${f.name}_matrix(windows, w, y + ${times("image", p.columns * k.windows.image)} + first, ${k.a_zero}, ${k.b_zero});
        }
    }
}
% else:
${f.storage} void ${f.name}(${f.parameters})
{
% for head in p.loops:
${head}
% endfor
${p.indent}${f.name}_matrix(${p.place("a")}, ${p.place("b")}, ${p.place("y")}, ${k.a_zero}, ${k.b_zero});
% for end in p.ends:
${end}
% endfor
}
% endif
