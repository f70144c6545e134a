${f.storage} void ${f.name}(${f.parameters})
{
    const tilewright_whole_steps steps = tilewright_whole_steps_of(tilewright_whole_range_of(x, ${k.elements}), x, ${k.elements});
    scale[0] = steps.step;
    zero_point[0] = (uint8_t)steps.zero;
    for (int i = 0; i < ${k.elements}; i++) {
        y[i] = (uint8_t)tilewright_whole_code(x + i, &steps);
    }
}
