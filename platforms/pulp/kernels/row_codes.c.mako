/* Rows are shared among the cores, elements where there are fewer rows than cores: each then looks at a whole row. */
static void ${f.name}(${f.parameters})
{
    const int by_row = tile->rows >= cores;
    const int last_row = by_row ? tilewright_share(tile->rows, core + 1, cores) : tile->rows;
    const int first = by_row ? 0 : tilewright_share(${k.width}, core, cores);
    const int end = by_row ? ${k.width} : tilewright_share(${k.width}, core + 1, cores);
    for (int row = by_row ? tilewright_share(tile->rows, core, cores) : 0; row < last_row; row++) {
        const float *const from = x + row * ${k.width};
        int8_t *const to = codes + row * ${k.width};
        const int32_t largest = tilewright_largest(from, ${k.width}, ${k.least}, 0x7FFFFFFFu);
        float high, ratio;
        (void)memcpy(&high, &largest, sizeof high);
        if (first == 0) {
            most[row] = high;
        }
        ratio = ${k.highest}.0f / high;
        for (int i = first; i < end; i++) {
            const float scaled = from[i] * ratio;
            const float limited = scaled > ${k.highest}.0f ? ${k.highest}.0f : scaled >= -${k.highest}.0f ? scaled : -${k.highest}.0f;
            const float shifted = limited + 12582912.0f; /* 3 * 2^22: the last bits are the nearest whole number */
            int32_t bits;
            (void)memcpy(&bits, &shifted, sizeof bits);
            to[i] = (int8_t)(bits - 0x4B400000);
        }
    }
}
