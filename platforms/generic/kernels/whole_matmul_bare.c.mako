<% p, line = k.product, k.line %>\
${f.storage} void ${f.name}_matrix(const float *a, const float *b, float *y)
{
    for (int row = 0; row < ${p.rows}; row++) {
        const float *const from = a + ${times("row", p.a_row)};
        const uint32_t top = tilewright_whole_top(0u, from, ${p.depth}, ${p.a_step});
        for (int n = 0; n < ${p.columns}; n++) {
            const float *const column = b + ${times("n", p.b_column)};
            const uint32_t own = tilewright_whole_top(0u, column, ${p.depth}, ${p.b_step});
            tilewright_whole_total total = {0, 0, ${4 * p.depth}u};
            float v = 0.0f;
            int known = tilewright_whole_ordinary(top, own, ${line.bits});
            if (known != 0) {
                tilewright_whole_add(&total, from, ${p.a_step}, top, column, ${p.b_step}, own, ${p.depth}, ${line.bits}, ${line.share});
                known = tilewright_whole_known(&v, &total, top, own, ${line.bits}, ${line.share}, NULL);
            }
            if (known == 0) {
                v = tilewright_whole_exact(0.0f, from, ${p.a_step}, column, ${p.b_step}, ${p.depth}, top != 255u && own != 255u ? 1 : 0);
            }
            y[${times("row", p.y_row)} + ${times("n", p.y_column)}] = ${k.clamp};
        }
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
% for head in p.loops:
${head}
% endfor
${p.indent}${f.name}_matrix(${p.place("a")}, ${k.right}, ${p.place("y")});
}
