<%
p = k.portable
y = f"(int{k.bits}_t *)y" if p.code_type.startswith("u") else "y"
store = "vstrbq" if k.bits == 8 else "vstrhq"
rest = p.elements % 4
whole = p.elements - rest
%>\
<%def name="codes(value)">vminq_s32(vmaxq_s32(vaddq_n_s32(tilewright_mve_quotient(${value}, ${p.step}, ${k.inverse}), ${p.zero}), low), high)</%def>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    const int32x4_t low = vdupq_n_s32(${k.least});
    const int32x4_t high = vdupq_n_s32(${k.most});
% if whole:
    for (int i = 0; i < ${whole}; i += 4) {
        ${store}_s32(${y} + i, ${codes("vldrwq_f32(x + i)")});
    }
% endif
% if rest:
    const mve_pred16_t left = vctp32q(${rest}u);
    const int32x4_t last = ${codes(f"vldrwq_z_f32({plus('x', whole)}, left)")};
    ${store}_p_s32(${plus(y, whole)}, last, left);
% endif
}
