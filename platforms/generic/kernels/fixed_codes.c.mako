static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        const int32_t *const from = x + row * ${k.width};
        int8_t *const to = codes + row * ${k.width};
        const int32_t high = tilewright_fixed_most(from, ${k.width});
        const int room = tilewright_fixed_room((uint32_t)high);
        const uint32_t share = tilewright_fixed_reciprocal((uint32_t)high << room);
        const int32_t ratio = (int32_t)((uint64_t)share * ${k.highest}u >> ${k.bits});
        most[row] = high;
        for (int i = 0; i < ${k.width}; i++) {
            const int32_t scaled = tilewright_fixed_high((int32_t)((uint32_t)from[i] << room), ratio);
            to[i] = (int8_t)((scaled + ${1 << 27 - k.bits}) >> ${28 - k.bits});
        }
    }
}
