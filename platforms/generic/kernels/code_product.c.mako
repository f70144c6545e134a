<%
groups, rest = divmod(k.width, 8)
lines = range(4 if k.outputs % 4 == 0 else 1)
last = k.width - (k.blocks - 1) * k.block
steps = 4 if not k.four and k.block % 4 == 0 and last % 4 == 0 else 1
def weight(line, code):
    byte, shift = k.place(code)
    return f"(group{line}[{byte}] >> 4)" if shift else f"(group{line}[{byte}] & 15)"
%>\
<%def name="of_group(indent, count)">\
% for line in lines:
${indent}const uint8_t *const group${line} = weights${line} + 4 * g;
% endfor
${indent}const int8_t *const at = codes + 8 * g;
${indent}const int32_t eights = 8 * (${" + ".join(f"at[{code}]" for code in range(count))});
% for line in lines:
${indent}acc${line} += ${" + ".join(f"at[{code}] * {weight(line, code)}" for code in range(count))} - eights;
% endfor
</%def>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        const int8_t *const codes = x + row * ${k.width};
% for line in k.begin:
        ${line}
% endfor
        for (int n = 0; n < ${k.outputs}; n += ${len(lines)}) {
            const int8_t *const factor = factors + n * ${k.blocks};
            ${k.y_type} *const to = y + row * ${k.outputs} + n;
% for line in lines:
            const ${"uint8_t" if k.four else "int8_t"} *const weights${line} = w + ${f"(n + {line})" if line else "n"} * ${k.stride};
% endfor
            int32_t ${", ".join(f"sum{line} = 0" for line in lines)};
            for (int block = 0; block < ${k.blocks}; block++) {
                int32_t ${", ".join(f"acc{line} = 0" for line in lines)};
% if k.four:
                for (int g = block * ${k.block // 8}; g < ${groups} && g < (block + 1) * ${k.block // 8}; g++) {
${of_group(" " * 20, 8)}\
                }
% if rest:
                if (block == ${k.blocks - 1}) {
                    const int g = ${groups};
${of_group(" " * 20, rest)}\
                }
% endif
% else:
                for (int i = block * ${k.block}; i < ${"(block + 1) * " + str(k.block) if k.width % k.block == 0 else f"(block + 1) * {k.block} && i < {k.width}"}; i += ${steps}) {
% for step in range(steps):
% for line in lines:
                    acc${line} += codes[${f"i + {step}" if step else "i"}] * weights${line}[${f"i + {step}" if step else "i"}];
% endfor
% endfor
                }
% endif
% for line in lines:
                sum${line} += acc${line} * factor[${f"{line * k.blocks} + " if line else ""}block];
% endfor
            }
% for line in lines:
            to[${line}] = ${k.of(f"sum{line}")};
% endfor
        }
    }
}
