<%
block = k.size * k.sums
group_words = k.blocks * k.block_words
of = f"{k.size}{'_zeros' if k.zero is None else ''}{'_many' if k.sums > 1 else '_even' if k.size == 16 and k.blocks % 2 == 0 else ''}"
%>\
/* ${k.rows} rows of ${k.depth} by ${k.columns} columns of four bits, ${k.size} products in a sum. */
${f.storage} void ${f.name}(${f.parameters})
{
    static const tilewright_blocks_shape shape = {
        ${k.depth}, ${k.segment}, ${block}, ${k.size}, ${1 if k.zero is None else 4}, ${k.start},
    };
    int32_t *const row = (int32_t *)scratch;
    for (int r = 0; r < ${k.rows}; r++) {
        const float *const values = a + ${times("r", k.depth)};
        float *const to = y + ${times("r", k.columns)};
        const int32_t *const last = tilewright_blocks_row(values, row, &shape, largest[0]);
        if (last == NULL) {
            for (int n = 0; n < ${k.columns}; n++) {
                float total = ${"bias[n]" if k.bias else "0.0f"};
                for (int i = 0; i < ${k.depth}; i++) {
                    const uint32_t *const w = stream + n / 4 * ${group_words} + i / ${block} * ${k.block_words};
                    const int32_t code = tilewright_blocks_code(w[${k.head} + i % ${block} / 4 * 2 + n % 4 / 2], i % 4, n % 2);
% if k.zero is None:
                    const int32_t steps = code - tilewright_blocks_code(w[4], n % 4 / 2, n % 2);
% else:
                    const int32_t steps = code - ${k.zero};
% endif
                    total += values[i] * ((float)steps * tilewright_blocks_scale(w[n % 4], n % 2));
                }
                to[n] = total;
            }
            continue;
        }
        const uint32_t *from = stream;
        for (int n = 0; n < ${k.columns}; n += 4) {
            float totals[4];
            from = tilewright_blocks_columns${of}(row, last, from, ${k.sums}, totals);
% if k.columns % 4 == 0:
% for c in range(4):
            to[${plus("n", c)}] = totals[${c}]${f" + bias[{plus('n', c)}]" if k.bias else ""};
% endfor
% else:
            for (int c = 0; c < 4 && n + c < ${k.columns}; c++) {
                to[n + c] = totals[c]${" + bias[n + c]" if k.bias else ""};
            }
% endif
        }
    }
}
