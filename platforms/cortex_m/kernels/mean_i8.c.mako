TILEWRIGHT_INTO ${k.y_type} ${f.name}_code(int32_t sum)
{
    const int32_t acc = ${plus("sum", -k.offset)};
    const int32_t code = ${k.code};
    return (${k.y_type})(code < ${k.low} ? ${k.low} : code > ${k.high} ? ${k.high} : code);
}

TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    for (int c = 0; c < ${k.channels}; c += 4) {
        uint32_t even = 0;
        uint32_t odd = 0;
        const int8_t *s = x + c;
        for (int p = 0; p < ${k.pixels}; p++) {
            const uint32_t word = tilewright_load(s);
            __asm__("sxtab16 %0, %0, %1" : "+r"(even) : "r"(word));
            __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(odd) : "r"(word));
            s = &s[${k.channels}];
        }
        y[c] = ${f.name}_code((int16_t)even);
        y[c + 1] = ${f.name}_code((int16_t)odd);
        y[c + 2] = ${f.name}_code((int16_t)(even >> 16));
        y[c + 3] = ${f.name}_code((int16_t)(odd >> 16));
    }
}
