${f.storage} void ${f.name}(${f.parameters})
{
    ${k.real} *const a = (${k.real} *)scratch;
    for (int square = 0; square < ${k.count}; square++) {
        ${k.real} found = 1;
        for (int i = 0; i < ${k.size * k.size}; i++) {
            a[i] = ${k.real_of(f"x[square * {k.size * k.size} + i]")};
        }
        for (int column = 0; column < ${k.size}; column++) {
            int pivot = column;
            for (int row = column + 1; row < ${k.size}; row++) {
                if (${k.abs}(a[row * ${k.size} + column]) > ${k.abs}(a[pivot * ${k.size} + column])) {
                    pivot = row;
                }
            }
            const ${k.real} divisor = a[pivot * ${k.size} + column];
            if (pivot != column) {
                for (int i = 0; i < ${k.size}; i++) {
                    const ${k.real} kept = a[pivot * ${k.size} + i];
                    a[pivot * ${k.size} + i] = a[column * ${k.size} + i];
                    a[column * ${k.size} + i] = kept;
                }
                found = -found;
            }
            found *= divisor;
            if (divisor == 0) {
                break;
            }
            for (int row = column + 1; row < ${k.size}; row++) {
                const ${k.real} factor = a[row * ${k.size} + column] / divisor;
                for (int i = column; i < ${k.size}; i++) {
                    a[row * ${k.size} + i] -= factor * a[column * ${k.size} + i];
                }
            }
        }
        y[square] = ${k.element_of("found")};
    }
}
