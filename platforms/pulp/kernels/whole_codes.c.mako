/* The cores share the elements, first to find the range, then to make codes; all of them make the step. */
TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    tilewright_whole_range *const ranges = (tilewright_whole_range *)scratch;
    const int first = tilewright_share(tile->columns, core, cores), end = tilewright_share(tile->columns, core + 1, cores);
    if (phase == 0) {
        ranges[core] = tilewright_whole_range_of(x + first, end - first);
        return;
    }
    tilewright_whole_range range = ranges[0];
    for (int other = 1; other < cores; other++) {
        range = tilewright_whole_range_with(range, ranges[other]);
    }
    const tilewright_whole_steps steps = tilewright_whole_steps_of(range, x, tile->columns);
    if (core == 0) {
        scale[0] = steps.step;
        zero_point[0] = (uint8_t)steps.zero;
    }
    for (int i = first; i < end; i++) {
        y[i] = (uint8_t)tilewright_whole_code(x + i, &steps);
    }
}
