static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.outer}; row++) {
        for (int i = 0; i < ${k.inner}; i++) {
            const ${k.x_type} *xr = x + row * ${k.length * k.inner} + i;
            ${k.y_type} *yr = y + row * ${k.length * k.inner} + i;
            int largest = xr[0];
            for (int j = 1; j < ${k.length}; j++) {
                largest = xr[j * ${k.inner}] > largest ? xr[j * ${k.inner}] : largest;
            }
            uint64_t total = 0;
            for (int j = 0; j < ${k.length}; j++) {
                total += exponentials[largest - xr[j * ${k.inner}]];
            }
            total <<= ${k.fraction_bits};
            for (int j = 0; j < ${k.length}; j++) {
                const uint64_t product = exponentials[largest - xr[j * ${k.inner}]] * UINT64_C(${k.factor});
                uint64_t quotient = product / total;
                const uint64_t rest = product - quotient * total;
                if (rest * 2 > total || (rest * 2 == total && (quotient & 1) != 0)) {
                    quotient++;
                }
                int64_t code = (int64_t)quotient + (${k.zero_point});
                code = code < ${k.low} ? ${k.low} : code;
                code = code > ${k.high} ? ${k.high} : code;
                yr[j * ${k.inner}] = (${k.y_type})code;
            }
        }
    }
}
