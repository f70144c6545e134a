static void ${f.name}_each(const float *x, uint8_t *y, float step, float zero)
{
    const float most = 255.0f - zero;
    for (int i = 0; i < ${k.elements}; i++) {
        float steps = x[i] / step;
        steps = steps > -zero ? steps : -zero; /* the limits are whole, so they may come first */
        steps = steps < most ? steps : most;
        y[i] = (uint8_t)(int32_t)(tilewright_nearest(steps) + zero);
    }
}

TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    float low;
    float high;
    const int finite = tilewright_fpu_range(x, ${k.elements}, &low, &high);
    if (finite == 0) {
        low = 0.0f;
        high = 0.0f;
        for (int i = 0; i < ${k.elements}; i++) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
    }
    const float step = (high > low ? high - low : 1.0f) / 255.0f;
    float zero = -low / step;
    zero = zero > 0.0f ? zero : 0.0f;
    zero = tilewright_nearest(zero < 255.0f ? zero : 255.0f);
    scale[0] = step;
    zero_point[0] = (uint8_t)(int32_t)zero;
    if (finite == 0) {
        ${f.name}_each(x, y, step, zero);
        return;
    }
    const int32_t offset = (int32_t)zero;
    TILEWRIGHT_UNROLL_FOUR
    for (int i = 0; i < ${k.elements}; i++) {
        const int32_t code = tilewright_fpu_code(x[i], step, offset);
        y[i] = (uint8_t)tilewright_saturate_unsigned(code);
    }
}
