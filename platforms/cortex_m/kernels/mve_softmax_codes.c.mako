<%
c = k.portable
q = c.quotient
x = " + ".join(["x", *(times(f"i{at}", line.x) for at, line in enumerate(c.lines))])
y = " + ".join(["y", *(times(f"i{at}", line.y) for at, line in enumerate(c.lines))])
kind = "u32" if k.unsigned else "s32"
codes = "vreinterpretq_s32_u32({})" if k.unsigned else "{}"
read = "vldrbq_z_u32(from, left)" if k.unsigned else "vldrbq_z_s32(from, left)"
if c.x_step != 1:
    read = f"vldrbq_gather_offset_z_{kind}(from, x_places, left)"
read = codes.format(read)
store = "b" if k.y_bits == 8 else "h"
to = "to" if c.y_type == f"int{k.y_bits}_t" else f"(int{k.y_bits}_t *)to"
written = f"vstr{store}q_p_s32({to}, {{}}, left)"
if c.y_step != 1:
    written = f"vstr{store}q_scatter_{'shifted_' if k.y_bits == 16 else ''}offset_p_s32({to}, y_places, {{}}, left)"
%>\
TILEWRIGHT_MVE void ${f.name}_line(const ${c.x_type} *x, ${c.y_type} *y, const uint32_t *exponentials)
{
% for name, step in (("x", c.x_step), ("y", c.y_step)):
% if step != 1:
    const uint32x4_t ${name}_places = vmulq_n_u32(vidupq_n_u32(0, 1), ${step}u);
% endif
% endfor
    const ${c.x_type} *from = x;
    int32_t largest = ${-1 if k.unsigned else -129};
    for (int j = 0; j < ${c.length}; j += 4) {
        const mve_pred16_t left = vctp32q(${c.length}u - (uint32_t)j);
        largest = vmaxvq_p_s32(largest, ${read}, left);
        from = &from[${4 * c.x_step}];
    }
    const int32_t farthest = 255 - largest;
    uint64_t total = 0;
    from = x;
    for (int j = 0; j < ${c.length}; j += 4) {
        const mve_pred16_t left = vctp32q(${c.length}u - (uint32_t)j);
        const uint32x4_t at = vreinterpretq_u32_s32(vaddq_n_s32(${read}, farthest));
        total = vaddlvaq_u32(total, vldrwq_gather_shifted_offset_z_u32(exponentials, at, left));
        from = &from[${4 * c.x_step}];
    }
    /* At most two too small, which is still less than a unit of the high word: the same quotients stand next to a tie. */
    const double sum = (double)(uint32_t)(total >> 32) * 4294967296.0 + (double)(uint32_t)total;
    const uint32x4_t factor = vdupq_n_u32((uint32_t)(${q.numerator}.0 / sum) - 1u);
    ${c.y_type} *to = y;
    from = x;
    for (int j = 0; j < ${c.length}; j += 4) {
        const mve_pred16_t left = vctp32q(${c.length}u - (uint32_t)j);
        const uint32x4_t at = vreinterpretq_u32_s32(vaddq_n_s32(${read}, farthest));
        const uint32x4_t power = vldrwq_gather_shifted_offset_z_u32(exponentials, at, left);
        const uint32x4_t word = vaddq_n_u32(vmulhq_u32(power, factor), ${q.half}u);
        uint32x4_t quotient = vshrq_n_u32(word, ${q.shift});
        const uint32x4_t rest = vshlq_n_u32(vaddq_n_u32(word, 1u), ${32 - q.shift});
        if (vcmpcsq_u32(vdupq_n_u32(${1 << (32 - q.shift)}u), rest) != 0) { /* one is on a tie, or next to it */
            uint32_t words[4];
            uint32_t powers[4];
            uint32_t quotients[4];
            vstrwq_u32(words, word);
            vstrwq_u32(powers, power);
            vstrwq_u32(quotients, quotient);
            for (int i = 0; i < 4; i++) {
                if (((words[i] + 1u) & ${(1 << q.shift) - 1}u) <= 1u) {
                    quotients[i] = tilewright_softmax_exact((uint64_t)powers[i] * ${q.factor}u, total << ${q.fraction_bits},
                                                            ((words[i] + 1u) >> ${q.shift}) - 1u);
                }
            }
            quotient = vldrwq_u32(quotients);
        }
        int32x4_t code = vaddq_n_s32(vreinterpretq_s32_u32(quotient), ${q.zero_point});
% if q.low is not None:
        code = vmaxq_s32(code, vdupq_n_s32(${q.low}));
% endif
% if q.high is not None:
        code = vminq_s32(code, vdupq_n_s32(${q.high}));
% endif
        ${written.format("code")};
        from = &from[${4 * c.x_step}];
        to = &to[${4 * c.y_step}];
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
% for at, line in enumerate(c.lines):
    ${"    " * at}for (int i${at} = 0; i${at} < ${line.count}; i${at}++) {
% endfor
    ${"    " * len(c.lines)}${f.name}_line(${x}, ${y}, exponentials);
% for at in reversed(range(len(c.lines))):
    ${"    " * at}}
% endfor
}
