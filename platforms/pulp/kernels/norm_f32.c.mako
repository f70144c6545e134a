<%namespace name="rows" file="/generic/kernels/norm_factor_f32.c.mako"/>\
${rows.factor(f, k)}
/* Rows are shared among the cores, elements where there are fewer rows than cores: each then sums a whole row. */
TILEWRIGHT_EACH_ROUNDED static void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
    const int by_row = tile->rows >= cores;
    const int last_row = by_row ? tilewright_share(tile->rows, core + 1, cores) : tile->rows;
    const int first = by_row ? 0 : tilewright_share(${k.width}, core, cores);
    const int end = by_row ? ${k.width} : tilewright_share(${k.width}, core + 1, cores);
    for (int row = by_row ? tilewright_share(tile->rows, core, cores) : 0; row < last_row; row++) {
        const float *const from = x + row * ${k.width};
        float *const to = y + row * ${k.width};
% if k.centred:
        float mean;
        const float factor = ${f.name}_factor(from, &mean);
% else:
        const float factor = ${f.name}_factor(from);
% endif
        for (int i = first; i < end; i++) {
            to[i] = ${"(from[i] - mean)" if k.centred else "from[i]"} * factor * scale[i]${" + bias[i]" if k.bias else ""};
        }
    }
}
