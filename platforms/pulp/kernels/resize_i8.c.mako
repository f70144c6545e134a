<%
e = k.extent
q = k.requantise
plain = (q.low, q.high, e.y_type) == (-128, 127, "int8_t")
word = "int64_t" if k.wide else "int32_t"
flip = f"{k.flip}u" if k.flip else ""
%>\
/* So many channels of all images. */
typedef struct {
    int channels;
} ${f.name}_tile;

/* The code of a sum of unsigned codes${f", {k.shift} bits of which are rounded off, ties to even" if k.shift else ""}. */
static inline ${e.y_type} ${f.name}_code(u${word} total, ${word} offset)
{
    const ${word} exact = (${word})total - offset;
% if k.shift:
    const u${word} odd = (u${word})exact >> ${k.shift} & 1u;
% if k.wide and k.shift <= 32:
    const uint64_t moved = ((uint64_t)exact + ${(1 << k.shift - 1) - 1}u + odd) >> ${k.shift}; /* 32 bits of it are the sum's */
    const int32_t sum = (int32_t)(uint32_t)moved;
% else:
    const int32_t sum = (int32_t)((exact + ${(1 << k.shift - 1) - 1} + (${word})odd) >> ${k.shift});
% endif
% else:
    const int32_t sum = ${"(int32_t)exact" if k.wide else "exact"};
% endif
    const int32_t code = ${q.code("sum")};
% if plain:
    return (int8_t)tilewright_saturated(code);
% else:
    return (${e.y_type})(code < ${q.low} ? ${q.low} : code > ${q.high} ? ${q.high} : code);
% endif
}

/* Rows of results are shared; a core joins two rows of some channels, and then columns of them. */
static void ${f.name}(${f.parameters})
{
    const int channels = tile->channels;
    uint32_t *const joined = (uint32_t *)scratch + core * ${k.at_once * e.source_columns};
    const int end = tilewright_share(${e.images * e.rows}, core + 1, cores);
    for (int result = tilewright_share(${e.images * e.rows}, core, cores); result < end; result++) {
        const int row = result % ${e.rows}, top = result / ${e.rows} * ${k.source_rows};
        const uint32_t a = (uint32_t)row_weights[2 * row];
        const uint32_t b = (uint32_t)row_weights[2 * row + 1];
        for (int first = 0; first < channels; first += ${k.at_once}) {
            const int some = channels - first < ${k.at_once} ? channels - first : ${k.at_once};
            const ${e.x_type} *const upper = x + (top + row_places[2 * row]) * ${e.source_columns} * channels + first;
            const ${e.x_type} *const lower = x + (top + row_places[2 * row + 1]) * ${e.source_columns} * channels + first;
            uint32_t *line = joined;
            for (int at = 0; at < ${e.source_columns} * channels; at += channels) {
                for (int c = at; c < at + some; c++) {
                    const uint32_t u = (uint32_t)(uint8_t)upper[c]${flip}, v = (uint32_t)(uint8_t)lower[c]${flip};
                    *line++ = u * a + v * b;
                }
            }
            int at = result * ${e.columns} * channels + first;
            for (int column = 0; column < ${e.columns}; column++) {
                const uint32_t *left = joined + column_places[2 * column] * some;
                const uint32_t *right = joined + column_places[2 * column + 1] * some;
                const uint32_t p = (uint32_t)column_weights[2 * column];
                const uint32_t q = (uint32_t)column_weights[2 * column + 1];
                const ${word} offset = ${k.offset};
                for (int c = at; c < at + some; c++) {
                    y[c] = ${f.name}_code(${"(uint64_t)*left++ * p + (uint64_t)*right++ * q" if k.wide else "*left++ * p + *right++ * q"}, offset);
                }
                at += channels;
            }
        }
    }
}
