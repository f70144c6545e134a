${f.storage} void ${f.name}(${f.parameters})
{
    if (y != x) {
        TILEWRIGHT_RUN(y, x, ${k.elements});
    }
    for (int entry = 0; entry < ${k.batch}; entry++) {
% if k.starts:
        const int64_t asked = write_indices[entry] < 0 ? 0 : write_indices[entry];
% if k.circular:
        const int first = (int)(asked % ${k.size});
% else:
        const int first = asked > ${k.size - k.count} ? ${k.size - k.count} : (int)asked;
% endif
% else:
        const int first = 0;
% endif
        for (int outer = 0; outer < ${k.outer}; outer++) {
            const int row = entry * ${k.outer} + outer;
            for (int i = 0; i < ${k.count}; i++) {
                const int at = (first + i) % ${k.size};
                TILEWRIGHT_RUN(y + (row * ${k.size} + at) * ${k.inner}, update + (row * ${k.count} + i) * ${k.inner}, ${k.inner});
            }
        }
    }
}
