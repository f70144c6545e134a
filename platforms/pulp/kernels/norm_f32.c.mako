/* Rows are shared among the cores, elements where there are fewer rows than cores: each then sums a whole row. */
static void ${f.name}(${f.parameters})
{
    const int by_row = tile->rows >= cores;
    const int last_row = by_row ? tilewright_share(tile->rows, core + 1, cores) : tile->rows;
    const int first = by_row ? 0 : tilewright_share(${k.width}, core, cores);
    const int end = by_row ? ${k.width} : tilewright_share(${k.width}, core + 1, cores);
    for (int row = by_row ? tilewright_share(tile->rows, core, cores) : 0; row < last_row; row++) {
        const float *const from = x + row * ${k.width};
        float *const to = y + row * ${k.width};
        float ${"mean = 0.0f, " if k.centred else ""}squares = 0.0f, factor;
% if k.centred:
        for (int i = 0; i < ${k.width}; i++) {
            mean += from[i];
        }
        mean /= ${k.width}.0f;
% endif
        for (int i = 0; i < ${k.width}; i++) {
            const float value = from[i]${" - mean" if k.centred else ""};
            squares += value * value;
        }
        factor = 1.0f / sqrtf(squares / ${k.width}.0f + ${k.epsilon});
        for (int i = first; i < end; i++) {
            to[i] = ${"(from[i] - mean)" if k.centred else "from[i]"} * factor * scale[i]${" + bias[i]" if k.bias else ""};
        }
    }
}
