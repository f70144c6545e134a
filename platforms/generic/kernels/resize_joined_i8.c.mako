<%
e = k.extent
q = k.requantise
plain = (q.low, q.high, e.y_type) == (-128, 127, "int8_t")
flip = f"{k.flip}u" if k.flip else ""
channels = str(e.at_once) if e.channels % e.at_once == 0 else "channels"
%>\
/* The code of a sum of unsigned codes${f", {k.shift} bits of which are rounded off, ties to even" if k.shift else ""}. */
static inline ${e.y_type} ${f.name}_code(uint64_t total, int64_t offset)
{
    const int64_t exact = (int64_t)total - offset;
% if k.shift:
    const uint64_t odd = (uint64_t)exact >> ${k.shift} & 1u;
% if k.shift <= 32:
    const uint64_t moved = ((uint64_t)exact + ${(1 << k.shift - 1) - 1}u + odd) >> ${k.shift}; /* 32 bits of it are the sum's */
    const int32_t sum = (int32_t)(uint32_t)moved;
% else:
    const int32_t sum = (int32_t)((exact + ${(1 << k.shift - 1) - 1} + (int64_t)odd) >> ${k.shift});
% endif
% else:
    const int32_t sum = (int32_t)exact;
% endif
    const int32_t code = ${q.code("sum")};
% if plain:
    return (int8_t)tilewright_saturated(code);
% else:
    return (${e.y_type})(code < ${q.low} ? ${q.low} : code > ${q.high} ? ${q.high} : code);
% endif
}

static void ${f.name}(${f.parameters})
{
    uint32_t *const joined = scratch;
    for (int image = 0; image < ${e.images}; image++) {
        for (int row = 0; row < ${e.rows}; row++) {
            const uint32_t a = (uint32_t)row_weights[2 * row];
            const uint32_t b = (uint32_t)row_weights[2 * row + 1];
            for (int first = 0; first < ${e.channels}; first += ${e.at_once}) {
% if channels == "channels":
                const int channels = first < ${e.channels - e.at_once} ? ${e.at_once} : ${e.channels} - first;
% endif
                const ${e.x_type} *upper = x + image * ${e.image} + row_places[2 * row] + first;
                const ${e.x_type} *lower = x + image * ${e.image} + row_places[2 * row + 1] + first;
                for (int column = 0; column < ${e.source_columns}; column++) {
                    for (int c = 0; c < ${channels}; c++) {
                        const uint32_t u = (uint32_t)(uint8_t)upper[c]${flip}, v = (uint32_t)(uint8_t)lower[c]${flip};
                        joined[column * ${e.at_once} + c] = u * a + v * b;
                    }
                    upper += ${e.channels};
                    lower += ${e.channels};
                }
                ${e.y_type} *to = y + first;
                for (int column = 0; column < ${e.columns}; column++) {
                    const uint32_t *const left = joined + column_places[2 * column];
                    const uint32_t *const right = joined + column_places[2 * column + 1];
                    const uint32_t p = (uint32_t)column_weights[2 * column];
                    const uint32_t q = (uint32_t)column_weights[2 * column + 1];
                    const int64_t offset = ${k.offset};
                    for (int c = 0; c < ${channels}; c++) {
                        to[c] = ${f.name}_code((uint64_t)left[c] * p + (uint64_t)right[c] * q, offset);
                    }
                    to += ${e.channels};
                }
            }
            y = &y[${e.columns * e.channels}];
        }
    }
}
