% if k.few:
/* Elements are shared among the cores: they tell each other what the largest of theirs is, and then make codes. */
% else:
/* Rows are shared among the cores. */
% endif
TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    const int width = tile->columns;
% if k.few:
    int32_t *const parts = (int32_t *)scratch;
    const int first = tilewright_share(width, core, cores), end = tilewright_share(width, core + 1, cores);
    for (int row = 0; row < tile->rows; row++) {
% else:
    const int first = 0, end = width, last_row = tilewright_share(tile->rows, core + 1, cores);
    for (int row = tilewright_share(tile->rows, core, cores); row < last_row; row++) {
% endif
        const float *const from = x + row * width;
        const float least = tilewright_float(${k.least}), limit = tilewright_float(${k.limit});
        int32_t largest;
        float high, ratio;
        if (phase == 0) {
% if k.few:
            parts[row * cores + core] = tilewright_largest(from + first, end - first, least, 0x7FFFFFFFu);
            continue;
        }
        largest = tilewright_largest((const float *)(const void *)(parts + row * cores), cores, least, 0x7FFFFFFFu);
% else:
            break;
        }
        largest = tilewright_largest(from, width, least, 0x7FFFFFFFu);
% endif
        (void)memcpy(&high, &largest, sizeof high);
        if (first == 0) {
            most[row] = high;
        }
        ratio = limit / high;
        for (int i = first; i < end; i++) {
            const float shifted = tilewright_limited(from[i] * ratio, limit) + tilewright_float(0x4B400000u);
            int32_t bits; /* of a float from 3 * 2^22 on, whose last ones are the nearest whole number */
            (void)memcpy(&bits, &shifted, sizeof bits);
            codes[row * width + i] = (int8_t)(bits - 0x4B400000);
        }
    }
}
