${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        const int32_t number = (int32_t)x[i]${f" - {k.zero}" if k.zero > 0 else f" + {-k.zero}" if k.zero else ""};
        const uint32_t word = tilewright_whole_scaled(number, ${k.mantissa}u, ${k.top}u);
        tilewright_whole_store(y + i, (int32_t)word);
    }
}
