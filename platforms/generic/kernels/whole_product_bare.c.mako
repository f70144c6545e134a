<% p, line = k.product, k.line %>\
${f.storage} void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${p.rows}; row++) {
        const float *const from = a + ${times("row", p.a_row)};
        const uint32_t top = tilewright_whole_top(0u, from, ${p.depth}, 1);
        for (int n = 0; n < ${p.columns}; n++) {
            tilewright_whole_total total = {0, 0, ${4 * p.depth}u};
            const float *const column = w + ${times("n", p.b_column)};
            float v;
            int known = tilewright_whole_ordinary(top, tops[n], ${line.bits});
            if (known) {
                tilewright_whole_add(&total, from, 1, top, column, 1, tops[n], ${p.depth}, ${line.bits}, ${line.share});
                known = tilewright_whole_known(&v, &total, top, tops[n], ${line.bits}, ${line.share}, ${"&" + k.bias if k.bias else "NULL"});
            }
            if (!known) {
                v = tilewright_whole_exact(0.0f, from, 1, column, 1, ${p.depth}, top != 255u && tops[n] != 255u);
% if k.bias:
                v += ${k.bias};
% endif
            }
            y[${times("row", p.y_row)} + n] = ${k.clamp};
        }
    }
}
