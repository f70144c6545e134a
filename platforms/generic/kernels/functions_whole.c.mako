${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = ${k.first}; i < ${k.end}; i++) {
        const uint32_t a = tilewright_whole_bits(x + i);
        tilewright_whole_store(y + i, (int32_t)${k.value});
    }
}
