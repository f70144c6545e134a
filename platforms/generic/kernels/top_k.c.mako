${f.storage} int ${f.name}_before(${k.c_type} a, ${k.c_type} b)
{
% if k.converted:
    const float e0 = ${k.real_of("a")}, e1 = ${k.real_of("b")};
% endif
    return ${k.before};
}

${f.storage} void ${f.name}(${f.parameters})
{
    for (int outer = 0; outer < ${k.outer}; outer++) {
        for (int inner = 0; inner < ${k.inner}; inner++) {
            const ${k.c_type} *row = x + outer * ${k.size * k.inner} + inner;
            int last = -1;
            for (int rank = 0; rank < ${k.count}; rank++) {
                int best = -1;
                for (int i = 0; i < ${k.size}; i++) {
                    const ${k.c_type} here = row[i * ${k.inner}];
                    if (last >= 0) {
                        const ${k.c_type} taken = row[last * ${k.inner}];
                        if (${f.name}_before(here, taken) || (!${f.name}_before(taken, here) && i <= last)) {
                            continue;
                        }
                    }
                    if (best < 0 || ${f.name}_before(here, row[best * ${k.inner}])) {
                        best = i;
                    }
                }
                const int at = (outer * ${k.count} + rank) * ${k.inner} + inner;
                values[at] = row[best * ${k.inner}];
% if k.indexed:
                indices[at] = best;
% endif
                last = best;
            }
        }
    }
}
