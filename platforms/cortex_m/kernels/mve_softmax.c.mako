<%
whole, rest = k.length // 4 * 4, k.length % 4
x = " + ".join(["x", *(times(f"i{n}", line.x) for n, line in enumerate(k.lines))])
y = " + ".join(["y", *(times(f"i{n}", line.y) for n, line in enumerate(k.lines))])

def read(name, step, at, mask=""):
    z, end = ("_z", f", {mask}") if mask else ("", "")
    place = f"{name} + {times(at, step)}" if at else name
    return f"vldrwq{z}_f32({place}{end})" if step == 1 else f"vldrwq_gather_shifted_offset{z}_f32({place}, {name}_places{end})"

def written(name, step, at, value, mask=""):
    p, end = ("_p", f", {mask}") if mask else ("", "")
    place = f"{name} + {times(at, step)}" if at else name
    return f"vstrwq{p}_f32({place}, {value}{end})" if step == 1 else f"vstrwq_scatter_shifted_offset{p}_f32({place}, {name}_places, {value}{end})"
%>\
<%def name="raised(at, mask)">\
            const float32x4_t power = vsubq_f32(vdupq_n_f32(largest), ${read("x", k.x_step, at, mask)});
            const float32x4_t below = vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(power), vdupq_n_u32(TILEWRIGHT_MVE_SIGN)));
            const float32x4_t part = tilewright_mve_where_number(power, tilewright_mve_exponential(tilewright_mve_minus(below)));
            ${written("y", k.y_step, at, "part", mask)};
</%def>\
TILEWRIGHT_MVE void ${f.name}_line(const float *x, float *y)
{
% for name, step in (("x", k.x_step), ("y", k.y_step)):
% if step != 1:
    const uint32x4_t ${name}_places = vmulq_n_u32(vidupq_n_u32(0, 1), ${step}u);
% endif
% endfor
    float32x4_t most = ${read("x", k.x_step, "")};
    for (int i = 4; i < ${whole}; i += 4) {
        most = vmaxnmq_f32(most, ${read("x", k.x_step, "i")});
    }
% if rest:
    most = vmaxnmq_f32(most, ${read("x", k.x_step, str(k.length - 4))});
% endif
    const float largest = vmaxnmvq_f32(-HUGE_VALF, most);
    float32x4_t sums = vdupq_n_f32(0.0f);
    for (int i = 0; i < ${whole}; i += 4) {
${raised("i", "")}\
        sums = vaddq_f32(sums, part);
    }
% if rest:
    const mve_pred16_t left = vctp32q(${rest}u);
    {
${raised(str(whole), "left")}\
        sums = vaddq_m_f32(sums, sums, part, left);
    }
% endif
    const float total = (vgetq_lane_f32(sums, 0) + vgetq_lane_f32(sums, 1)) + (vgetq_lane_f32(sums, 2) + vgetq_lane_f32(sums, 3));
    const float share = 1.0f / total;
    for (int i = 0; i < ${whole}; i += 4) {
        ${written("y", k.y_step, "i", f"vmulq_n_f32({read('y', k.y_step, 'i')}, share)")};
    }
% if rest:
    ${written("y", k.y_step, str(whole), f"vmulq_n_f32({read('y', k.y_step, str(whole), 'left')}, share)", "left")};
% endif
}

${f.storage} void ${f.name}(${f.parameters})
{
% for n, line in enumerate(k.lines):
    ${"    " * n}for (int i${n} = 0; i${n} < ${line.count}; i${n}++) {
% endfor
    ${"    " * len(k.lines)}${f.name}_line(${x}, ${y});
% for n in reversed(range(len(k.lines))):
    ${"    " * n}}
% endfor
}
