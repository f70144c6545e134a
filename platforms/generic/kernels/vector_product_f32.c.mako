static void ${f.name}(${f.parameters})
{
    (void)memset(y, 0, ${4 * k.columns});
    tilewright_block_vector(a, b, ${k.inputs}, ${k.columns}, y);
% if k.clamp is not None:
    for (int o = 0; o < ${k.columns}; o++) {
        const float v = y[o];
        y[o] = ${k.clamped};
    }
% endif
}
