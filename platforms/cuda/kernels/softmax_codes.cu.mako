${f.storage} void ${f.name}(const int element, ${f.parameters})
{
    (void)element;
    const int start = element / ${k.inner} * ${k.length * k.inner} + element % ${k.inner};
    const ${k.x_type} *xr = x + start;
    ${k.y_type} *yr = y + start;
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
