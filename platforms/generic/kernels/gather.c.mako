${f.storage} void ${f.name}(${f.parameters})
{
    for (int outer = 0; outer < ${k.outer}; outer++) {
        for (int i = 0; i < ${k.taken}; i++) {
            const int at = tilewright_index((int64_t)indices[i], ${k.size});
            TILEWRIGHT_RUN(y + (outer * ${k.taken} + i) * ${k.inner}, x + (outer * ${k.size} + at) * ${k.inner}, ${k.inner});
        }
    }
}
