${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = ${k.first}; i < ${k.end}; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits = tilewright_sigmoid(bits);
        memcpy(y + i, &bits, sizeof bits);
    }
}
