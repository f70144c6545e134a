<%
whole = k.width % k.block == 0
groups = -(-k.width // 32)
per_block = k.block // 32 if k.blocks > 1 else groups
tail = k.stride % 16
def load(n):
    at = f"at + {n * k.stride}" if n else "at"
    return f"vldrbq_z_u8({at}, there)" if tail else f"vldrbq_u8({at})"
%>\
% if k.four:
/* Codes as weights of four bits lie: of 32 those of the low halves of bytes, then those of the high ones; zeros behind
 * the last. What 8 stored with every weight adds to the sums of a block is taken off where they start. */
TILEWRIGHT_MVE void ${f.name}_order(const int8_t *from, int8_t *to, int32_t *starts)
{
    static const uint8_t places[16] = {${", ".join(str(8 * (lane // 4) + (0, 4, 2, 6)[lane % 4]) for lane in range(16))}};
    const uint8x16_t low = vldrbq_u8(places);
    const uint8x16_t high = vaddq_n_u8(low, 1);
    for (int block = 0; block < ${k.blocks}; block++) {
        int32_t sum = 0;
        for (int g = block * ${per_block}; g < ${groups} && g < (block + 1) * ${per_block}; g++) {
            const int left = ${k.width} - 32 * g;
            const uint8x16_t end = vdupq_n_u8((uint8_t)(left < 32 ? left : 32));
            const int8x16_t first = vldrbq_gather_offset_z_s8(from + 32 * g, low, vcmphiq_u8(end, low));
            const int8x16_t second = vldrbq_gather_offset_z_s8(from + 32 * g, high, vcmphiq_u8(end, high));
            vstrbq_s8(to + 32 * g, first);
            vstrbq_s8(to + 32 * g + 16, second);
            sum = vaddvaq_s8(vaddvaq_s8(sum, first), second);
        }
        starts[block] = -8 * sum;
    }
}

% endif
/* Floats one by one: vectors of them know no denormal numbers. */
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
% if k.four:
    int32_t *const starts = (int32_t *)(void *)scratch;
    int8_t *const ordered = (int8_t *)(starts + ${k.blocks});
    const uint8x16_t low = vdupq_n_u8(15);
% endif
    for (int row = 0; row < ${k.rows}; row++) {
        const float unit = most[row] * ${k.unit};
% if k.four:
        const uint8_t *at = w;
        ${f.name}_order(x + row * ${k.width}, ordered, starts);
% endif
        const int8_t *factor = factors;
        float *to = y + row * ${k.outputs};
        for (int n = 0; n < ${k.outputs}; n += 4) {
% if k.blocks > 1:
            int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
% endif
% if k.four:
            const int8_t *codes = ordered;
% if k.blocks > 1:
            for (int block = 0; block < ${k.blocks}; block++) {
% else:
            {
                const int block = 0;
% endif
                int32_t a0 = starts[block], a1 = a0, a2 = a0, a3 = a0;
% if per_block > 1:
                for (int g = block * ${per_block}; g < ${groups}${f" && g < (block + 1) * {per_block}" if k.blocks > 1 else ""}; g++) {
% else:
                {
% endif
% if tail:
                    const mve_pred16_t there = vctp8q((uint32_t)(${k.stride} - 16 * ${"g" if per_block > 1 else "block"}));
% endif
                    const int8x16_t even = vldrbq_s8(codes), odd = vldrbq_s8(codes + 16);
% for n in range(4):
                    const uint8x16_t word${n} = ${load(n)};
% endfor
% for n in range(4):
                    a${n} = vmladavaq_s8(a${n}, vreinterpretq_s8_u8(vandq_u8(word${n}, low)), even);
                    a${n} = vmladavaq_s8(a${n}, vreinterpretq_s8_u8(vshrq_n_u8(word${n}, 4)), odd);
% endfor
                    at += 16;
                    codes += 32;
                }
% else:
            const int8_t *from = x + row * ${k.width}, *w0 = w + n * ${k.width};
            const int8_t *w1 = w0 + ${k.width}, *w2 = w1 + ${k.width}, *w3 = w2 + ${k.width};
% if k.blocks > 1:
            for (int block = 0; block < ${k.blocks}; block++) {
                const int inputs = ${str(k.block) if whole else f"block < {k.blocks - 1} ? {k.block} : {k.width % k.block}"};
% else:
            {
                const int block = 0, inputs = ${k.width};
% endif
                int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
                __asm__ volatile(
                    "dlstp.8 lr, %[inputs]\n\t1:\n\tvldrb.8 q0, [%[x]], #16\n\t"
% for n in range(4):
                    "vldrb.8 q1, [%[w${n}]], #16\n\tvmladava.s8 %[a${n}], q0, q1\n\t"
% endfor
                    "letp lr, 1b\n\t"
                    : [a0] "+Te"(a0), [a1] "+Te"(a1), [a2] "+Te"(a2), [a3] "+Te"(a3), [x] "+r"(from), [w0] "+r"(w0),
                      [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3)
                    : [inputs] "r"(inputs)
                    : "memory", "lr", "q0", "q1");
% endif
% for n in range(4):
% if k.blocks > 1:
                s${n} += a${n} * factor[${n * k.blocks} + block];
% else:
                float real${n} = (float)(a${n} * factor[${n} + block]) * unit;
                TILEWRIGHT_ONE_FLOAT(real${n});
                to[${n}] = real${n};
% endif
% endfor
            }
% if k.blocks > 1:
% for n in range(4):
            float real${n} = (float)s${n} * unit;
            TILEWRIGHT_ONE_FLOAT(real${n});
            to[${n}] = real${n};
% endfor
% endif
            factor += ${4 * k.blocks};
            to += 4;
% if k.four:
            at += ${4 * k.stride - 16 * groups};
% endif
        }
    }
}
