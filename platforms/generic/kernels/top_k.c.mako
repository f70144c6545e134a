${f.storage} int ${f.name}_before(${k.c_type} a, ${k.c_type} b)
{
% if k.converted:
    const float e0 = ${k.real_of("a")}, e1 = ${k.real_of("b")};
% endif
    return ${k.before};
}

${f.storage} void ${f.name}(${f.parameters})
{
% if k.counted:
    const int taken = k[0] < 0 ? 0 : k[0] > ${k.count} ? ${k.count} : (int)k[0];
% endif
    for (int outer = 0; outer < ${k.outer}; outer++) {
        for (int inner = 0; inner < ${k.inner}; inner++) {
            const ${k.c_type} *row = x + outer * ${k.size * k.inner} + inner;
            int last = -1;
            for (int rank = 0; rank < ${'taken' if k.counted else k.count}; rank++) {
                int best = -1;
                for (int i = 0; i < ${k.size}; i++) {
                    const ${k.c_type} here = row[i * ${k.inner}];
                    if (last >= 0) {
                        const ${k.c_type} previous = row[last * ${k.inner}];
                        if (${f.name}_before(here, previous) || (!${f.name}_before(previous, here) && i <= last)) {
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
% if k.counted:
            for (int rank = taken; rank < ${k.count}; rank++) {
                values[(outer * ${k.count} + rank) * ${k.inner} + inner] = ${k.padding};
% if k.indexed:
                indices[(outer * ${k.count} + rank) * ${k.inner} + inner] = 0;
% endif
            }
% endif
        }
    }
% if k.counted:
    count[0] = taken;
% endif
}
