<% table = k.table %>\
static void ${f.name}(${f.parameters})
{
% if table.four:
    static const uint8_t places[8] = {${", ".join(str(table.place(code)[0] * 8 + table.place(code)[1]) for code in range(8))}};
% endif
    for (int n = 0; n < ${table.rows}; n++) {
        const int at = tilewright_index((int64_t)index[n], ${table.outputs});
        int32_t *const to = y + n * ${table.width};
        for (int block = 0; block < ${table.blocks}; block++) {
            const int32_t factor = factors[at * ${table.blocks} + block] * ${1 << k.form.room};
            const int end = (block + 1) * ${table.block} < ${table.width} ? (block + 1) * ${table.block} : ${table.width};
            for (int i = block * ${table.block}; i < end; i++) {
% if table.four:
                const int place = places[i % 8];
                const int32_t code = (w[at * ${table.stride} + i / 8 * 4 + place / 8] >> place % 8 & 15) - 8;
                const int32_t product = code * factor;
% else:
                const int32_t product = w[at * ${table.width} + i] * factor;
% endif
                to[i] = ${k.result};
            }
        }
    }
}
