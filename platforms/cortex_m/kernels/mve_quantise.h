/* Codes of four floats (Helium). It brings tilewright_mve_quotient. */

/* The quotient by `step` as the nearest whole number, halves to the even one; -2^29 for what is no number. With the
 * reciprocal rounded once, two corrections by the exact rest make the quotient that a division rounds. */
TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_quotient(float32x4_t value, float step, float inverse)
{
    const float farthest = step * 536870912.0f;
    const float32x4_t limited = vminnmq_f32(vmaxnmq_f32(value, vdupq_n_f32(-farthest)), vdupq_n_f32(farthest));
    float32x4_t quotient = vmulq_n_f32(limited, inverse);
    quotient = vfmaq_n_f32(quotient, vfmaq_n_f32(limited, quotient, -step), inverse);
    quotient = vfmaq_n_f32(quotient, vfmaq_n_f32(limited, quotient, -step), inverse);
    return vcvtnq_s32_f32(quotient);
}
