TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m++) {
        const float *weights = w;
        for (int column = 0; column < ${k.columns}; column += 4) {
            float sums[4];
            weights = tilewright_float_row(a + ${times("m", k.inputs)}, weights, ${k.inputs}, sums);
            float *const to = y + ${times("m", k.columns)} + column;
            for (int o = 0; o < 4; o++) {
% if k.columns % 4:
                if (column + o < ${k.columns})
% endif
                {
                    const float v = sums[o];
                    to[o] = ${k.clamp};
                }
            }
        }
    }
}
