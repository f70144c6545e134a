static void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        const uint32_t bits = tilewright_fixed_float(x[i], ${-k.bits});
        (void)memcpy(y + i, &bits, sizeof bits);
    }
}
