<%namespace name="parts" file="/product_parts.c.mako"/>\
<%
q = k.requantise
def limited(indent):
    return (f"code = code < {q.low} ? {q.low} : code;\n{indent}code = code > {q.high} ? {q.high} : code;")
%>\
${parts.pack(f, k)}\

/* Cores share blocks of four rows and, inside a matrix, groups of four columns. */
static void ${f.name}(${f.parameters})
{
    const int groups = (tile->columns + 3) >> 2, blocks = (tile->rows + 3) >> 2, each = groups * blocks;
    const int height = tile->rows < 4 ? tile->rows : 4, width = tile->columns < 4 ? tile->columns : 4;
    const int end = tilewright_share(tile->matrices * each, core + 1, cores);
% if k.b_zero:
    uint32_t *const packed = (uint32_t *)(void *)scratch + core * (${k.depth} + tile->rows);
    int32_t few[4] = {0}, *const lines = tile->rows < 4 ? few : (int32_t *)(void *)(packed + ${k.depth});
% else:
    uint32_t *const packed = (uint32_t *)(void *)scratch + core * ${k.depth};
% endif
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
        for (int group = first / blocks; group * blocks < last; group++) {
            const int over = tile->columns < 4 ? 0 : tile->columns - 4;
            const int column = group * 4 < over ? group * 4 : over;
            int32_t starts[4];
            ${f.name}_pack(right + column, packed, starts, tile->columns);
            const int stop = last - group * blocks < blocks ? last - group * blocks : blocks;
            int block = group * blocks < first ? first - group * blocks : 0;
            while (block < stop) {
                const int full = stop < tile->rows >> 2 ? stop : tile->rows >> 2;
                const int row = block < full || tile->rows < 4 ? block * 4 : tile->rows - 4; /* the last ones again with those before */
% if k.fused:
                const int direct = height == 4 && width == 4, units = direct && block < full ? full - block : 1;
% else:
                const int units = 1;
% endif
#ifdef TILEWRIGHT_XPULP
                tilewright_product_block k;
                for (int j = 0; j < 4; j++) {
                    k.rows[j] = left + (row + (j < height ? j : height - 1)) * ${k.depth};
                }
                k.packed = packed;
                k.starts = starts;
                k.lines = ${"lines + row" if k.b_zero else "starts"};
                k.units = units;
% if k.fused:
                ${k.y_type} codes[16];
                k.y = direct ? result + row * tile->columns + column : codes;
                k.y_step = direct ? tile->columns : 4;
% else:
                int32_t sums[16];
                k.y = sums;
                k.y_step = 16;
% endif
                __asm__ volatile(
${k.text}
                    : [k] "+m"(k) :
                    : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
                      "a7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
% if k.fused:
                for (int j = 0; j < (direct ? 0 : height); j++) {
                    for (int n = 0; n < width; n++) {
                        result[(row + j) * tile->columns + column + n] = codes[4 * j + n];
                    }
                }
% else:
                for (int j = 0; j < height; j++) {
                    for (int n = 0; n < width; n++) {
                        const int32_t acc = sums[4 * j + n];
                        int32_t code = ${q.code("acc")};
                        ${limited(" " * 24)}
                        result[(row + j) * tile->columns + column + n] = (${k.y_type})code;
                    }
                }
% endif
#else
${parts.portable(k, " " * 16, "row + height + 4 * (units - 1)", "starts")}\
#endif
                block += units;
            }
        }
    }
}
