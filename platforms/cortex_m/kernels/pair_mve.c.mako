TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    const int32x4_t low = vdupq_n_s32(${k.low});
    const int32x4_t high = vdupq_n_s32(${k.high});
    const int32x4_t addend = vdupq_n_s32(${k.addend});
    for (int i = 0; i < ${k.elements // 4 * 4}; i += 4) {
        const int32x4_t first = vmlaq_n_s32(addend, vldrbq_s32(a + i), ${k.left});
        const int32x4_t sum = vmlaq_n_s32(first, vldrbq_s32(b + i), ${k.right});
        vstrbq_s32(y + i, vminq_s32(vmaxq_s32(vshlq_r_s32(sum, ${-k.shift}), low), high));
    }
% if k.elements % 4:
    {
        const mve_pred16_t some = vctp32q(${k.elements % 4}u);
        const int32x4_t first = vmlaq_n_s32(addend, vldrbq_z_s32(a + ${k.elements // 4 * 4}, some), ${k.left});
        const int32x4_t sum = vmlaq_n_s32(first, vldrbq_z_s32(b + ${k.elements // 4 * 4}, some), ${k.right});
        vstrbq_p_s32(y + ${k.elements // 4 * 4}, vminq_s32(vmaxq_s32(vshlq_r_s32(sum, ${-k.shift}), low), high), some);
    }
% endif
}
