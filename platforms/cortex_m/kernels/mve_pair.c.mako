<%
whole = k.elements // 4 * 4
rest = k.elements % 4

def load(name, c_type, at, some):
    kind, bits = ("u" if c_type.startswith("u") else "s"), ("b" if "8" in c_type else "h")
    value = f"vldr{bits}q{'_z' if some else ''}_{kind}32({name} + {at}{', some' if some else ''})"
    return f"vreinterpretq_s32_u32({value})" if kind == "u" else value

def real(name, c_type, at, some, zero, scale):
    value = load(name, c_type, at, some)
    value = f"vaddq_n_s32({value}, {-zero})" if zero else value
    return f"vmulq_n_f32(vcvtq_f32_s32({value}), {scale})"

signed = "int8_t" if "8" in k.y_type else "int16_t"
place = f"({signed} *)y" if k.y_type.startswith("u") else "y"
store = "vstrbq" if "8" in k.y_type else "vstrhq"
join = {"Add": "vaddq_f32", "Sub": "vsubq_f32", "Mul": "vmulq_f32"}[k.op]
%>\
<%def name="four(at, some)">\
        const float32x4_t first = ${real("a", k.a_type, at, some, k.zeros[0], k.scales[0])};
        const float32x4_t second = ${real("b", k.b_type, at, some, k.zeros[1], k.scales[1])};
        const int32x4_t steps = tilewright_mve_rounded(tilewright_mve_divided(${join}(first, second), ${k.scales[2]}, ${k.inverse}));
        const int32x4_t code = vminq_s32(vmaxq_s32(${f"vaddq_n_s32(steps, {k.zeros[2]})" if k.zeros[2] else "steps"}, low), high);
        ${f"{store}_p_s32({place} + {at}, code, some)" if some else f"{store}_s32({place} + {at}, code)"};
</%def>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    const int32x4_t low = vdupq_n_s32(${k.low});
    const int32x4_t high = vdupq_n_s32(${k.high});
% if k.rounds > 1:
    for (int round = 0; round < ${k.rounds}; round++) {
% endif
% if whole:
    for (int i = 0; i < ${whole}; i += 4) {
${four("i", False)}\
    }
% endif
% if rest:
    {
        const mve_pred16_t some = vctp32q(${rest}u);
${four(str(whole), True)}\
    }
% endif
% if k.rounds > 1:
    ${"b" if k.again == "a" else "a"} += ${k.elements};
    y += ${k.elements};
    }
% endif
}
