${f.storage} void ${f.name}(${f.parameters})
{
    static const int sizes[${k.depth}] = {${k.sizes}};
    static const int steps[${k.depth}] = {${k.steps}};
    for (int batch = 0; batch < ${k.batches}; batch++) {
        for (int i = 0; i < ${k.tuples}; i++) {
            const int place = batch * ${k.tuples} + i;
            int at = batch * ${k.block};
            for (int j = 0; j < ${k.depth}; j++) {
                at += tilewright_index((int64_t)indices[place * ${k.depth} + j], sizes[j]) * steps[j];
            }
            TILEWRIGHT_RUN(y + place * ${k.inner}, x + at, ${k.inner});
        }
    }
}
