<%namespace name="parts" file="/product_parts.c.mako"/>\
${parts.pack(f, k)}\

/* Cores share the rows of all groups of four columns. */
static void ${f.name}(${f.parameters})
{
    const int groups = (tile->columns + 3) >> 2, each = groups * tile->rows, width = tile->columns < 4 ? tile->columns : 4;
    const int end = tilewright_share(tile->matrices * each, core + 1, cores);
    uint32_t *const packed = (uint32_t *)(void *)scratch + core * (${k.depth + k.beside // 4}${" + tile->rows" if k.b_zero else ""});
    int32_t *const starts = (int32_t *)(void *)(packed + ${k.depth})${f", *const lines = starts + {k.beside // 4}" if k.b_zero else ""};
    for (int item = tilewright_share(tile->matrices * each, core, cores); item < end;) {
        const int matrix = item / each, first = item - matrix * each;
        const int last = end - matrix * each < each ? end - matrix * each : each;
        const ${k.a_type} *const left = a + matrix * tile->rows * ${k.depth};
        const unsigned char *const right = (const unsigned char *)b + matrix * tile->right;
        ${k.y_type} *const result = y + matrix * tile->rows * tile->columns;
        item += last - first;
% if k.b_zero:
${parts.lines(k)}\
% endif
        for (int group = first / tile->rows; group * tile->rows < last; group++) {
            const int over = tile->columns < 4 ? 0 : tile->columns - 4;
            const int column = group * 4 < over ? group * 4 : over, from = group * tile->rows;
            const int stop = last - from < tile->rows ? last - from : tile->rows;
            int row = from < first ? first - from : 0;
            ${f.name}_pack(right + column, packed, starts, tile->columns);
#ifdef TILEWRIGHT_XPULP
            starts[${k.addend_at}] = ${k.addend};
            starts[${k.step_at}] = width == 4 ? tile->columns : 4;
            while (row < stop) {
                ${k.y_type} codes[4];
                tilewright_short_product k;
                k.x = left + row * ${k.depth};
                k.packed = packed;
                k.lines = ${"lines + row" if k.b_zero else "starts"};
                k.y = width == 4 ? result + row * tile->columns + column : codes;
                k.y_step = starts[${k.step_at}];
                k.rows = width == 4 ? stop - row : 1;
                __asm__ volatile(
${k.text}
                    : [k] "+m"(k) :
                    : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
                      "a7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
                for (int n = 0; n < (width == 4 ? 0 : width); n++) {
                    result[row * tile->columns + n] = codes[n];
                }
                row += k.rows;
            }
#else
${parts.portable(k, " " * 12, "stop", "starts")}\
#endif
        }
    }
}
