${f.storage} void ${f.name}(${f.parameters})
{
    if (y != x) {
        TILEWRIGHT_RUN(y, x, ${k.scatter.elements});
    }
    for (int i = 0; i < ${k.tuples}; i++) {
        int at = 0;
% for j, size, step in k.axes:
        at += ${times(f"tilewright_index((int64_t)indices[{plus(times('i', k.depth), j)}], {size})", step)};
% endfor
        for (int j = 0; j < ${k.inner}; j++) {
% if k.scatter.reads:
            const ${k.scatter.local} e0 = ${k.scatter.real_of("y[at + j]")};
% endif
            const ${k.scatter.local} e1 = ${k.scatter.real_of(f"updates[i * {k.inner} + j]")};
% for line in k.scatter.stores("y[at + j]"):
            ${line}
% endfor
        }
    }
}
