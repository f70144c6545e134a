<%
lines = range(k.lines)
accumulators = ", ".join(f'[acc{line}] "+&r"(acc{line})' for line in lines)
shift = " >> 4" if k.four else ""
%>\
<%def name="summed(text, half)">\
#ifdef TILEWRIGHT_XPULP
                    __asm__ volatile(
${text}
                        : [x] "+&r"(codes), [w] "+&r"(weights), ${accumulators}
                        : [words] "r"(words)${', [mask] "r"(0xF0F0F0F0u)' if k.four else ""}
                        : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a7");
#else
                    for (int i = 0; i < ${"1" if half else "words"}; i++) {
                        const uint32_t front = tilewright_word(codes)${", back = tilewright_word(codes + 4)" if k.four and not half else ""};
% for line in lines:
                        const uint32_t word${line} = (uint32_t)weights[${line}];
% if k.four:
                        acc${line} = tilewright_dot(acc${line}, word${line} << 4 & 0xF0F0F0F0u, front);
% if not half:
                        acc${line} = tilewright_dot(acc${line}, word${line} & 0xF0F0F0F0u, back);
% endif
% else:
                        acc${line} = tilewright_dot(acc${line}, word${line}, front);
% endif
% endfor
                        codes += ${8 if k.four and not half else 4};
                        weights += ${k.lines};
                    }
#endif
</%def>\
/* Outputs are shared among the cores, ${k.lines} at a time. */
static void ${f.name}(${f.parameters})
{
    const int groups = (int)((unsigned)tile->columns / ${k.lines}u);
    const int first = tilewright_share(groups, core, cores), end = tilewright_share(groups, core + 1, cores);
    for (int row = 0; row < tile->rows; row++) {
        const float unit = most[row] * tilewright_float((uint32_t)tile->unit);
        const int32_t *weights = w + first * ${k.lines * k.row_words};
        const int8_t *factor = factors + first * ${k.lines * k.blocks};
        float *to = y + row * tile->columns + first * ${k.lines};
        for (int group = first; group < end; group++) {
            const int8_t *codes = x + row * ${k.width};
            int32_t ${", ".join(f"sum{line} = 0" for line in lines)};
            for (int block = 0; block < ${k.blocks}; block++) {
                const int words = block < ${k.blocks - 1} ? ${k.words} : ${k.rest};
                int32_t ${", ".join(f"acc{line} = 0" for line in lines)};
                if (words != 0) {
${summed(k.text, False)}\
                }
% if k.half:
                if (block == ${k.blocks - 1}) {
${summed(k.last, True)}\
                }
% endif
% for line in lines:
                sum${line} += (acc${line}${shift}) * factor[${f"{line * k.blocks} + " if line else ""}block];
% endfor
            }
% for line in lines:
            to[${line}] = (float)sum${line} * unit;
% endfor
            factor += ${k.lines * k.blocks};
            to += ${k.lines};
        }
    }
}
