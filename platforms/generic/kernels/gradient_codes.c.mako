static void ${f.name}(${f.parameters})
{
    uint32_t bits;
    float high = 0.0f, unit;
    int32_t power;
    for (int i = 0; i < ${k.elements}; i++) {
        const float size = x[i] < 0 ? -x[i] : x[i];
        high = size > high ? size : high;
    }
    (void)memcpy(&bits, &high, sizeof bits);
    power = (int32_t)(bits >> 23) - 133; /* the exponent of a fraction from 1/2 to 1, less seven bits */
    power = power > 121 ? 121 : power;   /* of infinity that of the largest number */
    if (power < -106) {
        for (int i = 0; i < ${k.elements}; i++) {
            codes[i] = 0;
        }
        exponent[0] = -128;
        return;
    }
    bits = (uint32_t)(127 - power) << 23;
    (void)memcpy(&unit, &bits, sizeof unit);
    for (int i = 0; i < ${k.elements}; i++) {
        const float scaled = x[i] * unit;
        const float limited = scaled < 127.0f ? scaled > -127.0f ? scaled : -127.0f : 127.0f;
        const float shifted = limited + 12582912.0f; /* 3 * 2^22: the last bits are the nearest whole number */
        int32_t whole;
        (void)memcpy(&whole, &shifted, sizeof whole);
        codes[i] = (int8_t)(x[i] == x[i] ? whole - 0x4B400000 : 0);
    }
    exponent[0] = power;
}
