<%
rest = k.elements % 4
whole = k.elements - rest
%>\
<%def name="codes(value)">vminq_s32(vmaxq_s32(vaddq_n_s32(tilewright_mve_quotient(${value}, step, inverse), offset), vdupq_n_s32(0)), vdupq_n_s32(255))</%def>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    float32x4_t least = vdupq_n_f32(0.0f);
    float32x4_t greatest = vdupq_n_f32(0.0f);
% if whole:
    for (int i = 0; i < ${whole}; i += 4) {
        const float32x4_t four = vldrwq_f32(x + i);
        least = vminnmq_f32(least, four);
        greatest = vmaxnmq_f32(greatest, four);
    }
% endif
% if rest:
    const mve_pred16_t left = vctp32q(${rest}u);
    const float32x4_t last = vldrwq_z_f32(${plus("x", whole)}, left);
    least = vminnmq_f32(least, last);
    greatest = vmaxnmq_f32(greatest, last);
% endif
    const float low = vminnmvq_f32(0.0f, least);
    const float high = vmaxnmvq_f32(0.0f, greatest);
    const float step = (high > low ? high - low : 1.0f) / 255.0f;
    float zero = -low / step;
    zero = zero > 0.0f ? zero : 0.0f;
    zero = tilewright_nearest(zero < 255.0f ? zero : 255.0f);
    scale[0] = step;
    zero_point[0] = (uint8_t)(int32_t)zero;
    if (!(step >= ${k.smallest} && step <= ${k.largest})) {
        const float most = 255.0f - zero;
        for (int i = 0; i < ${k.elements}; i++) {
            float steps = x[i] / step;
            steps = steps > -zero ? steps : -zero; /* the limits are whole, so they may come first */
            steps = steps < most ? steps : most;
            y[i] = (uint8_t)(int32_t)(tilewright_nearest(steps) + zero);
        }
        return;
    }
    const float inverse = 1.0f / step;
    const int32_t offset = (int32_t)zero;
% if whole:
    for (int i = 0; i < ${whole}; i += 4) {
        vstrbq_s32((int8_t *)y + i, ${codes("vldrwq_f32(x + i)")});
    }
% endif
% if rest:
    vstrbq_p_s32((int8_t *)y${f" + {whole}" if whole else ""}, ${codes("last")}, left);
% endif
}
