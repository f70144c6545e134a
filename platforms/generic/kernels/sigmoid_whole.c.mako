${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = ${k.first}; i < ${k.end}; i++) {
        uint32_t bits;
        (void)memcpy(&bits, x + i, sizeof bits);
        bits = tilewright_sigmoid(bits);
        (void)memcpy(y + i, &bits, sizeof bits);
    }
}
