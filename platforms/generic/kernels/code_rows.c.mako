static void ${f.name}(${f.parameters})
{
% if k.four:
    static const uint8_t places[8] = {${", ".join(str(k.place(code)[0] * 8 + k.place(code)[1]) for code in range(8))}};
% endif
    for (int n = 0; n < ${k.rows}; n++) {
        const int at = tilewright_index((int64_t)index[n], ${k.outputs});
        float *const to = y + n * ${k.width};
% if k.four:
        for (int i = 0; i < ${k.width}; i++) {
            const int place = places[i % 8];
            const int code = (w[at * ${k.stride} + i / 8 * 4 + place / 8] >> place % 8 & 15) - 8;
            to[i] = (float)(code * factors[at * ${k.blocks} + i / ${k.block}]) * ${k.unit};
        }
% else:
        for (int block = 0; block < ${k.blocks}; block++) {
            const float unit = (float)factors[at * ${k.blocks} + block] * ${k.unit};
            const int end = (block + 1) * ${k.block} < ${k.width} ? (block + 1) * ${k.block} : ${k.width};
            for (int i = block * ${k.block}; i < end; i++) {
                to[i] = (float)w[at * ${k.width} + i] * unit;
            }
        }
% endif
    }
}
