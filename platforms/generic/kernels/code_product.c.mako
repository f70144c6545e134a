<%
groups, rest = divmod(k.width, 8)
def weight(code):
    byte, shift = k.place(code)
    return f"(group[{byte}] >> 4) - 8" if shift else f"(group[{byte}] & 15) - 8"
%>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        const int8_t *const codes = x + row * ${k.width};
        const float unit = most[row] * ${k.unit};
        for (int n = 0; n < ${k.outputs}; n++) {
            const ${"uint8_t" if k.four else "int8_t"} *const weights = w + n * ${k.stride};
            int32_t sum = 0;
            for (int block = 0; block < ${k.blocks}; block++) {
                int32_t acc = 0;
% if k.four:
                for (int g = block * ${k.block // 8}; g < ${groups} && g < (block + 1) * ${k.block // 8}; g++) {
                    const uint8_t *const group = weights + 4 * g;
                    const int8_t *const at = codes + 8 * g;
% for code in range(8):
                    acc += at[${code}] * (${weight(code)});
% endfor
                }
% if rest:
                if (block == ${k.blocks - 1}) {
                    const uint8_t *const group = weights + ${4 * groups};
                    const int8_t *const at = codes + ${8 * groups};
% for code in range(rest):
                    acc += at[${code}] * (${weight(code)});
% endfor
                }
% endif
% else:
                for (int i = block * ${k.block}; i < ${"(block + 1) * " + str(k.block) if k.width % k.block == 0 else f"(block + 1) * {k.block} && i < {k.width}"}; i++) {
                    acc += codes[i] * weights[i];
                }
% endif
                sum += acc * factors[n * ${k.blocks} + block];
            }
            y[row * ${k.outputs} + n] = (float)sum * unit;
        }
    }
}
