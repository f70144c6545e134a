static void ${f.name}(${f.parameters})
{
    if (y != x) {
        TILEWRIGHT_RUN(y, x, ${k.elements});
    }
    const int64_t at = (int64_t)position[0];
    for (int outer = 0; at >= 0 && at < ${k.size} && outer < ${k.outer}; outer++) {
        for (int i = 0; i < ${k.inner}; i++) {
            y[(outer * ${k.size} + (int)at) * ${k.inner} + i] = update[outer * ${k.inner} + i];
        }
    }
}
