${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        y[i] = reals[${k.index}];
    }
}
