/* Lines are shared among the cores; a line's codes lie tile->inner apart. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->lines, core + 1, cores);
    for (int line = tilewright_share(tile->lines, core, cores); line < end; line++) {
        const int first = line / tile->inner * tile->inner * ${k.length} + line % tile->inner;
        const ${k.x_type} *xr = x + first;
        ${k.y_type} *yr = y + first;
        int largest = xr[0];
        for (int j = 1; j < ${k.length}; j++) {
            largest = xr[j * tile->inner] > largest ? xr[j * tile->inner] : largest;
        }
        uint64_t sum = 0;
        for (int j = 0; j < ${k.length}; j++) {
            sum += exponentials[largest - xr[j * tile->inner]];
        }
        sum <<= ${k.fraction_bits};
        for (int j = 0; j < ${k.length}; j++) {
            const uint64_t product = exponentials[largest - xr[j * tile->inner]] * UINT64_C(${k.factor});
            uint64_t quotient = product / sum;
            const uint64_t rest = product - quotient * sum;
            if (rest * 2 > sum || (rest * 2 == sum && (quotient & 1) != 0)) {
                quotient++;
            }
            int64_t code = (int64_t)quotient + (${k.zero_point});
            code = code < ${k.low} ? ${k.low} : code;
            code = code > ${k.high} ? ${k.high} : code;
            yr[j * tile->inner] = (${k.y_type})code;
        }
    }
}
