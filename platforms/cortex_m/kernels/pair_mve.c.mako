<%
form = k.form
whole = k.elements // 4 * 4
mask = (1 << form.shift) - 1
%>\
<%def name="four(at, some)">\
<%
load, store = ("vldrbq_z_s32({}, some)", "vstrbq_p_s32({}, {}, some)") if some else ("vldrbq_s32({})", "vstrbq_s32({}, {})")
%>\
        const int32x4_t first = ${load.format("a + " + at)};
        const int32x4_t second = ${load.format("b + " + at)};
% if form.product:
        const int32x4_t left = vaddq_n_s32(first, ${-form.zero_points[0]});
        const int32x4_t product = vmulq_s32(left, vaddq_n_s32(second, ${-form.zero_points[1]}));
        const int32x4_t word = vmlaq_n_s32(addend, product, ${form.left});
% else:
        const int32x4_t word = vmlaq_n_s32(vmlaq_n_s32(addend, first, ${form.left}), second, ${form.right});
% endif
% if form.ties == "up":
        int32x4_t code = vshlq_r_s32(word, ${-form.shift});
% else:
        const int32x4_t up = vandq_s32(vshlq_r_s32(${f"vaddq_n_s32(word, {1 << form.shift})" if form.ties == "odd" else "word"}, ${-form.shift}), one);
        const int32x4_t code = vshlq_r_s32(vaddq_n_s32(vaddq_s32(word, up), ${(1 << form.shift - 1) - 1}), ${-form.shift});
% endif
% if k.listed:
        if (vcmpgeq_n_s32(vandq_s32(word, mask), ${k.window})) {
            int32_t lanes[12];
            vstrwq_s32(lanes, first);
            vstrwq_s32(lanes + 4, second);
            vstrwq_s32(lanes + 8, word);
            for (int lane = 0; lane < 4; lane++) {
                const int near = (lanes[8 + lane] & ${mask}) >= ${k.window};
                lanes[lane] = near ? tilewright_listed(pairs, ${k.listed}, lanes[lane], lanes[4 + lane]) : 0;
            }
            code = vaddq_s32(code, vldrwq_s32(lanes));
        }
% endif
        ${store.format("y + " + at, "vminq_s32(vmaxq_s32(code, low), high)")};
</%def>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    const int32x4_t low = vdupq_n_s32(${form.low});
    const int32x4_t high = vdupq_n_s32(${form.high});
    const int32x4_t addend = vdupq_n_s32(${form.addend});
% if k.listed:
    const int32x4_t mask = vdupq_n_s32(${mask});
% endif
% if form.ties != "up":
    const int32x4_t one = vdupq_n_s32(1);
% endif
% if k.rounds > 1:
    for (int round = 0; round < ${k.rounds}; round++) {
% endif
    for (int i = 0; i < ${whole}; i += 4) {
${four("i", False)}\
    }
% if k.elements % 4:
    {
        const mve_pred16_t some = vctp32q(${k.elements % 4}u);
${four(str(whole), True)}\
    }
% endif
% if k.rounds > 1:
    ${"b" if k.again == "a" else "a"} += ${k.elements};
    y += ${k.elements};
    }
% endif
}
