/* y = a * p + b * q in vectors. */
TILEWRIGHT_MVE_INTO void tilewright_mve_joined(const float *a, const float *b, float *y, float p, float q, int count)
{
    for (; count > 0; count -= 4) {
        const mve_pred16_t some = vctp32q((uint32_t)count);
        vstrwq_p_f32(y, vfmaq_n_f32(vmulq_n_f32(vldrwq_z_f32(a, some), p), vldrwq_z_f32(b, some), q), some);
        a += 4;
        b += 4;
        y += 4;
    }
}
