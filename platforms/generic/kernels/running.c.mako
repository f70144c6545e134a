${f.storage} void ${f.name}(${f.parameters})
{
    for (int outer = 0; outer < ${k.outer}; outer++) {
        for (int inner = 0; inner < ${k.inner}; inner++) {
            ${k.c_type} acc = ${k.start};
            for (int i = 0; i < ${k.size}; i++) {
                const int at = (outer * ${k.size} + ${f"{k.size - 1} - i" if k.reverse else "i"}) * ${k.inner} + inner;
                const ${k.c_type} term = ${k.term};
% if k.exclusive:
                y[at] = ${k.result};
                acc = ${k.step};
% else:
                acc = ${k.step};
                y[at] = ${k.result};
% endif
            }
        }
    }
}
