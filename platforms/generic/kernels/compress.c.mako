${f.storage} void ${f.name}(${f.parameters})
{
    int found = 0;
    for (int i = 0; i < ${k.asked} && found < ${k.bound}; i++) {
        if (condition[i]) {
            for (int outer = 0; outer < ${k.outer}; outer++) {
                for (int inner = 0; inner < ${k.inner}; inner++) {
                    y[(outer * ${k.bound} + found) * ${k.inner} + inner] = x[(outer * ${k.size} + i) * ${k.inner} + inner];
                }
            }
            found++;
        }
    }
    for (int outer = 0; outer < ${k.outer}; outer++) {
        for (int i = found * ${k.inner}; i < ${k.bound * k.inner}; i++) {
            y[outer * ${k.bound * k.inner} + i] = 0;
        }
    }
    count[0] = found;
}
