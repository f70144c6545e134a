static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        const int32_t *const from = a + row * ${k.depth};
        const int32_t *column = w;
        for (int n = 0; n < ${k.columns}; n++) {
            int64_t sum = 0;
            for (int i = 0; i < ${k.depth}; i++) {
                sum += (int64_t)from[i] * column[i];
            }
% if k.shift >= 0:
            y[row * ${k.columns} + n] = (int32_t)(sum >> ${k.shift});
% else:
            y[row * ${k.columns} + n] = (int32_t)((uint64_t)sum << ${-k.shift});
% endif
            column += ${k.depth};
        }
    }
}
