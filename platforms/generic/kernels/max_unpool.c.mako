${f.storage} void ${f.name}(${f.parameters})
{
% for name in k.unread:
    (void)${name};
% endfor
    for (int i = 0; i < ${k.elements}; i++) {
        y[i] = ${k.zero};
    }
    for (int i = 0; i < ${k.count}; i++) {
        const int at = tilewright_index((int64_t)indices[i], ${k.pooled});
        y[${" + ".join(f"at / {step} % {size} * {target}" for step, size, target in k.steps)}] = x[i];
    }
}
