<%
q = k.requantise
dot = "tilewright_unsigned_dot" if k.a_type == "uint8_t" else "tilewright_dot"
def limited(indent):
    return (f"code = code < {q.low} ? {q.low} : code;\n{indent}code = code > {q.high} ? {q.high} : code;")
%>\
/* Packs four columns, of which those behind the last repeat it; the start of each. */
static void ${f.name}_pack(const unsigned char *b, uint32_t *to, int32_t *starts, int columns)
{
    int32_t sums[4] = {0};
    for (int i = 0; i < ${k.depth}; i += 4) {
        if ((columns & 3) == 0) {
            const uint32_t r0 = tilewright_word(b)${k.flips}, r1 = tilewright_word(b + columns)${k.flips};
            const uint32_t r2 = tilewright_word(b + 2 * columns)${k.flips}, r3 = tilewright_word(b + 3 * columns)${k.flips};
            const uint32_t even01 = (r0 & 0x00FF00FFu) | (r1 & 0x00FF00FFu) << 8, odd01 = (r0 >> 8 & 0x00FF00FFu) | (r1 & 0xFF00FF00u);
            const uint32_t even23 = (r2 & 0x00FF00FFu) | (r3 & 0x00FF00FFu) << 8, odd23 = (r2 >> 8 & 0x00FF00FFu) | (r3 & 0xFF00FF00u);
            to[0] = (even01 & 0xFFFFu) | even23 << 16;
            to[1] = (odd01 & 0xFFFFu) | odd23 << 16;
            to[2] = even01 >> 16 | (even23 & 0xFFFF0000u);
            to[3] = odd01 >> 16 | (odd23 & 0xFFFF0000u);
        } else {
            for (int n = 0; n < 4; n++) {
                const unsigned char *const from = b + (n < columns ? n : columns - 1);
                uint32_t word = 0;
                for (int j = 0; j < 4; j++) {
                    word |= (uint32_t)from[j * columns] << (8 * j);
                }
                to[n] = word${k.flips};
            }
        }
        for (int n = 0; n < 4; n++) {
            sums[n] = tilewright_dot(sums[n], to[n], 0x01010101u);
        }
        b += 4 * columns;
        to += 4;
    }
    for (int n = 0; n < 4; n++) {
        starts[n] = ${-k.a_zero} * (sums[n] - (${k.depth * k.b_zero}));
    }
}

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
#ifdef TILEWRIGHT_XPULP
        {
            register const void *from __asm__("a0") = left;
            register int32_t *to __asm__("a1") = lines;
            register int rows __asm__("a2") = tile->rows;
            register uint32_t ones __asm__("a3") = 0x01010101u;
            __asm__ volatile(
${k.row_sums}
                : "+r"(from), "+r"(to) : "r"(rows), "r"(ones) : "memory", "a4", "t0", "t1", "t2", "t3");
        }
#else
        for (int m = 0; m < tile->rows; m++) {
            int32_t sum = 0;
            for (int i = 0; i < ${k.depth}; i += 4) {
                sum = ${dot}(sum, tilewright_word(left + m * ${k.depth} + i), 0x01010101u);
            }
            lines[m] = ${-k.b_zero} * sum;
        }
#endif
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
                for (int m = row; m < row + height + 4 * (units - 1); m++) {
                    for (int n = 0; n < width; n++) {
                        int32_t acc = starts[n]${" + lines[m]" if k.b_zero else ""};
                        for (int i = 0; i < ${k.depth}; i++) {
                            acc += left[m * ${k.depth} + i] * ((const signed char *)(packed + i / 4 * 4 + n))[i % 4];
                        }
                        int32_t code = ${q.code("acc")};
                        ${limited(" " * 24)}
                        result[m * tile->columns + column + n] = (${k.y_type})code;
                    }
                }
#endif
                block += units;
            }
        }
    }
}
