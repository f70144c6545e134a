static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        const float *const from = x + row * ${k.width};
        int8_t *const to = codes + row * ${k.width};
        float high = ${k.least}, ratio;
        for (int i = 0; i < ${k.width}; i++) {
            const float size = from[i] < 0 ? -from[i] : from[i];
            high = size > high ? size : high;
        }
        most[row] = high;
        ratio = ${k.highest}.0f / high;
        for (int i = 0; i < ${k.width}; i++) {
            const float scaled = from[i] * ratio;
            const float limited = scaled > ${k.highest}.0f ? ${k.highest}.0f : scaled >= -${k.highest}.0f ? scaled : -${k.highest}.0f;
            const float shifted = limited + 12582912.0f; /* 3 * 2^22: the last bits are the nearest whole number */
            int32_t bits;
            (void)memcpy(&bits, &shifted, sizeof bits);
            to[i] = (int8_t)(bits - 0x4B400000);
        }
    }
}
