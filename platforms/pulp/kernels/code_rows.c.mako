<%
def place(half, byte):  # codes of four bits as the upper half of a byte
    right = 8 * byte - (0 if half else 4)
    return f"word >> {right}" if right > 0 else f"word << {-right}" if right else "word"
%>\
/* Four codes a load: from L2 the core takes fifteen cycles for each. */
static void ${f.name}(${f.parameters})
{
    for (int n = 0; n < ${k.rows}; n++) {
        const int at = tilewright_index((int64_t)index[n], ${k.outputs});
        const int32_t *words = w + at / ${k.lines} * ${k.lines * k.row_words} + at % ${k.lines};
        float *to = y + n * ${k.width};
        for (int block = 0; block < ${k.blocks}; block++) {
            const int left = ${k.width} - block * ${k.block};
% if k.four:
            const int factor = factors[at * ${k.blocks} + block];
% else:
            const float unit = (float)factors[at * ${k.blocks} + block] * ${k.unit};
% endif
            for (int i = 0; i < (left < ${k.block} ? left : ${k.block}); i += ${8 if k.four else 4}) {
                const uint32_t word = (uint32_t)*words;
                words += ${k.lines};
% for half in range(2 if k.four else 1):
% if half:
                if (i + 4 >= left) {
                    break;
                }
% endif
% for byte in range(4):
% if k.four:
                *to++ = (float)((int8_t)(${place(half, byte)} & 240u) / 16 * factor) * ${k.unit};
% else:
                *to++ = (float)(int8_t)${f"(word >> {8 * byte})" if byte else "word"} * unit;
% endif
% endfor
% endfor
            }
        }
    }
}
