<%
value = f"tilewright_mve_{k.function}({{}}{''.join(', ' + number for number in k.numbers)})"
%>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
% if k.elements >= 4:
    for (int i = 0; i < ${k.elements // 4 * 4}; i += 4) {
        vstrwq_f32(y + i, ${value.format("vldrwq_f32(x + i)")});
    }
% endif
% if k.elements % 4:
    const mve_pred16_t rest = vctp32q(${k.elements % 4}u);
    const float32x4_t last = vldrwq_z_f32(${plus("x", k.elements // 4 * 4)}, rest);
    vstrwq_p_f32(${plus("y", k.elements // 4 * 4)}, ${value.format("last")}, rest);
% endif
}
