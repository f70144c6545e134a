<%
p = k.product
rows = [min(j, k.height - 1) for j in range(4)]
columns = [min(o, k.width - 1) for o in range(4)]
%>\
% if k.single:
<%
own, other = k.single, "b" if k.single == "a" else "a"
one_step = p.a_step if own == "a" else p.b_step
step, apart = (p.b_step, p.b_column) if own == "a" else (p.a_step, p.a_row)
count, at_once, result = (p.columns, k.width, p.y_column) if own == "a" else (p.rows, k.height, p.y_row)
%>\
/* One line of ${own} by ${at_once} of ${other} at a time. */
TILEWRIGHT_FLOAT void ${f.name}_matrix(const float *a, const float *b, float *y)
{
    for (int line = 0; line < ${count}; line += ${at_once}) {
        const int n = line < ${count - at_once} ? line : ${count - at_once};
        const float *one = ${own};
        const float *lines = ${other} + ${times("n", apart)};
% for j in range(at_once):
        float sum${j} = 0.0f;
% endfor
        for (int i = 0; i < ${p.depth}; i++) {
            const float value = *one;
% for j in range(at_once):
            sum${j} = TILEWRIGHT_MULTIPLY_ADD(value, lines[${j * apart}], sum${j});
% endfor
            one = &one[${one_step}];
            lines = &lines[${step}];
        }
        float *const to = y + ${times("n", result)};
% for j in range(at_once):
        {
            const float v = sum${j};
            to[${j * result}] = ${k.clamp};
        }
% endfor
    }
}

% else:
static void ${f.name}_matrix(const float *a, const float *b, float *y)
{
    for (int row = 0; row < ${p.rows}; row += ${k.height}) {
        const int m = row < ${p.rows - k.height} ? row : ${p.rows - k.height};
        for (int column = 0; column < ${p.columns}; column += ${k.width}) {
            const int n = column < ${p.columns - k.width} ? column : ${p.columns - k.width};
            const float *const left = a + ${times("m", p.a_row)};
            const float *const right = b + ${times("n", p.b_column)};
            const tilewright_float_lines lines = {
                {${", ".join(plus("left", j * p.a_row) for j in rows)}},
                {${", ".join(plus("right", o * p.b_column) for o in columns)}}, ${p.a_step}, ${p.b_step}, ${p.depth}};
% if k.way == "any":
            float sums[16] = {0};
            tilewright_float_lines_any(&lines, 0, sums);
% else:
            float sums[16];
            tilewright_float_lines_${k.way}(&lines, sums);
% endif
            float *const to = y + ${times("m", p.y_row)} + ${times("n", p.y_column)};
            for (int j = 0; j < ${k.height}; j++) {
% if k.runs:
                (void)memcpy(to + j * ${p.y_row}, sums + 4 * j, ${4 * k.width});
% else:
                for (int o = 0; o < ${k.width}; o++) {
                    const float v = sums[4 * j + o];
                    to[j * ${p.y_row} + o * ${p.y_column}] = ${k.clamp};
                }
% endif
            }
        }
    }
}

% endif
static void ${f.name}(${f.parameters})
{
% for head in p.loops:
${head}
% endfor
${p.indent}${f.name}_matrix(${p.place("a")}, ${p.place("b")}, ${p.place("y")});
% for end in p.ends:
${end}
% endfor
}
