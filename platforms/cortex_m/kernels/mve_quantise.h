/* Codes of four floats (Helium). It brings tilewright_mve_divided, tilewright_mve_rounded and tilewright_mve_quotient. */

/* The quotient by `step` as a division rounds it: with the reciprocal rounded once, by two corrections by the exact rest. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_divided(float32x4_t value, float step, float inverse)
{
    float32x4_t quotient = vmulq_n_f32(value, inverse);
    quotient = vfmaq_n_f32(quotient, vfmaq_n_f32(value, quotient, -step), inverse);
    return vfmaq_n_f32(quotient, vfmaq_n_f32(value, quotient, -step), inverse);
}

/* The nearest whole number, halves to the even one. */
TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_rounded(float32x4_t value)
{
    return vcvtnq_s32_f32(value);
}

/* The quotient by `step` as the nearest whole number; -2^29 for what is no number. */
TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_quotient(float32x4_t value, float step, float inverse)
{
    const float farthest = step * 536870912.0f;
    const float32x4_t limited = vminnmq_f32(vmaxnmq_f32(value, vdupq_n_f32(-farthest)), vdupq_n_f32(farthest));
    return tilewright_mve_rounded(tilewright_mve_divided(limited, step, inverse));
}
