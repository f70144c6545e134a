<%
rest = k.width % 8
last = k.width - (k.blocks - 1) * k.block
def of_block(codes):
    return last // codes if k.blocks == 1 or last == k.block else f"block < {k.blocks - 1} ? {k.block // codes} : {last // codes}"
%>\
<%def name="words(lines)">\
% if k.four:
                const int groups = ${of_block(8)};
                int32_t eights = 0;
                for (int g = 0; g < groups; g++) {
${of_group(lines, "tilewright_word(codes + 4)", " " * 20)}\
                    codes += 8;
                }
% if rest:
                ${f"if (block == {k.blocks - 1}) " if k.blocks > 1 else ""}{
${of_group(lines, "0u", " " * 20)}\
                }
% endif
% else:
                const int words = ${of_block(4)};
#pragma GCC unroll 4
                for (int i = 0; i < words; i++) {
                    const uint32_t four = tilewright_word(codes);
% for line in range(lines):
                    acc${line} = tilewright_dot(acc${line}, tilewright_word(weights${f" + {line * k.stride}" if line else ""}), four);
% endfor
                    codes += 4;
                    weights += 4;
                }
% endif
</%def>\
<%def name="of_group(lines, second, indent)">\
${indent}const uint32_t front = tilewright_word(codes), back = ${second};
${indent}const uint32_t even = (front & 0x00FF00FFu) | (back & 0x00FF00FFu) << 8;
${indent}const uint32_t odd = (front >> 8 & 0x00FF00FFu) | (back & 0xFF00FF00u);
% for line in range(lines):
${indent}const uint32_t eight${line} = tilewright_word(weights${f" + {line * k.stride}" if line else ""});
${indent}acc${line} = tilewright_unsigned_dot(acc${line}, eight${line} & 0x0F0F0F0Fu, even);
${indent}acc${line} = tilewright_unsigned_dot(acc${line}, eight${line} >> 4 & 0x0F0F0F0Fu, odd);
% endfor
${indent}eights = tilewright_dot(eights, 0x08080808u, even);
${indent}eights = tilewright_dot(eights, 0x08080808u, odd);
${indent}weights += 4;
</%def>\
<%def name="outputs(lines)">\
            const ${"uint8_t" if k.four else "int8_t"} *weights = w + n * ${k.stride};
            const int8_t *codes = x + row * ${k.width};
            int32_t ${", ".join(f"sum{line} = 0" for line in range(lines))};
% if k.blocks > 1:
            for (int block = 0; block < ${k.blocks}; block++) {
% else:
            {
% endif
                int32_t ${", ".join(f"acc{line} = 0" for line in range(lines))};
${words(lines)}\
% for line in range(lines):
                sum${line} += ${f"(acc{line} - eights)" if k.four else f"acc{line}"} * factors[${"n" if k.blocks == 1 else f"n * {k.blocks}"}${f" + {line * k.blocks}" if line else ""}${" + block" if k.blocks > 1 else ""}];
% endfor
            }
% for line in range(lines):
            y[row * tile->columns + n${f" + {line}" if line else ""}] = (float)sum${line} * unit;
% endfor
</%def>\
/* Outputs are shared among the cores, four at a time. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->columns, core + 1, cores);
    for (int row = 0; row < tile->rows; row++) {
        const float unit = most[row] * ${k.unit};
        int n = tilewright_share(tile->columns, core, cores);
        for (; n + 4 <= end; n += 4) {
${outputs(4)}\
        }
        for (; n < end; n++) {
${outputs(1)}\
        }
    }
}
