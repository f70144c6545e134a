<%
several = k.rows >= 4
last = k.rows - 4
%>\
TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m += ${4 if several else 1}) {
        const int at = ${f"m < {last} ? m : {last}" if several and k.rows % 4 else "m"};
        const float *weights = w;
        for (int column = 0; column < ${k.columns}; column += 4) {
            float sums[${16 if several else 4}];
% if several:
            weights = tilewright_float_four_rows(a + ${times("at", k.inputs)}, ${k.inputs}, weights, ${k.inputs}, sums);
% else:
            weights = tilewright_float_row(a + ${times("at", k.inputs)}, weights, ${k.inputs}, sums);
% endif
            for (int j = 0; j < ${4 if several else 1}; j++) {
                float *const to = y + ${times("(at + j)", k.columns)} + column;
% for o in range(4):
% if k.columns % 4 and o >= k.columns % 4:
                if (column + ${o} < ${k.columns})
% endif
                {
                    const float v = sums[${plus("4 * j", o)}];
                    to[${o}] = ${k.clamp};
                }
% endfor
            }
        }
    }
}
