<%
q = k.requantise
%>\
/* Packs four columns, of which those behind the last repeat it; the start of each. */
static void ${f.name}_pack(const unsigned char *b, uint32_t *to, int32_t *starts, int columns)
{
    int32_t sums[4] = {0};
    for (int i = 0; i < ${k.depth}; i += 4) {
        for (int n = 0; n < 4; n++) {
            const unsigned char *const from = b + i * columns + (n < columns ? n : columns - 1);
            uint32_t word = 0;
            for (int j = 0; j < 4; j++) {
                const unsigned code = from[j * columns] ^ ${k.flip}u;
                word |= (uint32_t)code << (8 * j);
                sums[n] += (int32_t)(code ^ 128u) - 128;
            }
            *to++ = word;
        }
    }
    for (int n = 0; n < 4; n++) {
        starts[n] = ${-k.a_zero} * (sums[n] - (${k.depth * k.b_zero}));
    }
}

/* Cores share blocks of four rows and, inside a matrix, groups of four columns. */
static void ${f.name}(${f.parameters})
{
    const int groups = (tile->columns + 3) >> 2, blocks = (tile->rows + 3) >> 2, each = groups * blocks;
    const int end = tilewright_share(tile->matrices * each, core + 1, cores);
    int32_t *const own = (int32_t *)scratch + core * (${k.depth} + tile->rows);
    uint32_t *const packed = (uint32_t *)(void *)own;
    int32_t *const lines = own + ${k.depth};
    for (int item = tilewright_share(tile->matrices * each, core, cores); item < end;) {
        const int matrix = item / each, first = item - matrix * each;
        const int last = end - matrix * each < each ? end - matrix * each : each;
        const ${k.a_type} *const left = a + matrix * tile->rows * ${k.depth};
        const unsigned char *const right = (const unsigned char *)b + matrix * tile->right;
        ${k.y_type} *const result = y + matrix * tile->rows * tile->columns;
        item += last - first;
        for (int m = 0; m < tile->rows; m++) {
% if k.b_zero:
            int32_t sum = 0;
            for (int i = 0; i < ${k.depth}; i++) {
                sum += left[m * ${k.depth} + i];
            }
            lines[m] = ${-k.b_zero} * sum;
% else:
            lines[m] = 0;
% endif
        }
        for (int group = first / blocks; group * blocks < last; group++) {
            const int over = tile->columns < 4 ? 0 : tile->columns - 4;
            const int column = group * 4 < over ? group * 4 : over;
            int32_t starts[4];
            ${f.name}_pack(right + column, packed, starts, tile->columns);
            const int stop = last - group * blocks < blocks ? last - group * blocks : blocks;
            for (int block = group * blocks < first ? first - group * blocks : 0; block < stop; block++) {
                const int under = tile->rows < 4 ? 0 : tile->rows - 4;
                const int row = block * 4 < under ? block * 4 : under;
                const int height = tile->rows < 4 ? tile->rows : 4, width = tile->columns < 4 ? tile->columns : 4;
                tilewright_product_block k;
                for (int j = 0; j < 4; j++) {
                    k.rows[j] = left + (row + (j < height ? j : height - 1)) * ${k.depth};
                }
                k.packed = packed;
                k.words = ${k.depth // 4};
#ifdef TILEWRIGHT_XPULP
                __asm__ volatile(
${k.text}
                    : [k] "+m"(k) :
                    : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
                      "a7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
#else
                for (int j = 0; j < 16; j++) {
                    const ${k.a_type} *const inputs = k.rows[j / 4];
                    k.sums[j] = 0;
                    for (int i = 0; i < ${k.depth}; i++) {
                        k.sums[j] += inputs[i] * ((const signed char *)(packed + i / 4 * 4 + j % 4))[i % 4];
                    }
                }
#endif
                for (int j = 0; j < height; j++) {
                    for (int n = 0; n < width; n++) {
                        const int32_t acc = k.sums[4 * j + n] + starts[n] + lines[row + j];
                        int32_t code = ${q.code("acc")};
                        code = code < ${q.low} ? ${q.low} : code;
                        code = code > ${q.high} ? ${q.high} : code;
                        result[(row + j) * tile->columns + column + n] = (${k.y_type})code;
                    }
                }
            }
        }
    }
}
