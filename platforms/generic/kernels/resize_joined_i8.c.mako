<%
q = k.requantise
plain = (q.low, q.high, k.y_type) == (-128, 127, "int8_t")
channels = str(k.at_once) if k.channels % k.at_once == 0 else "channels"
%>\
/* The code of a sum of unsigned codes${f", {k.shift} bits of which are rounded off, ties to even" if k.shift else ""}. */
static inline ${k.y_type} ${f.name}_code(uint64_t total, int64_t offset)
{
    const int64_t exact = (int64_t)total - offset;
% if k.shift:
    const int32_t sum = (int32_t)((exact + ${(1 << k.shift - 1) - 1} + (exact >> ${k.shift} & 1)) >> ${k.shift});
% else:
    const int32_t sum = (int32_t)exact;
% endif
    const int32_t code = ${q.code("sum")};
% if plain:
    return (int8_t)tilewright_saturated(code);
% else:
    return (${k.y_type})(code < ${q.low} ? ${q.low} : code > ${q.high} ? ${q.high} : code);
% endif
}

static void ${f.name}(${f.parameters})
{
    uint32_t *const joined = scratch;
    for (int image = 0; image < ${k.images}; image++) {
        for (int row = 0; row < ${k.rows}; row++) {
            const uint32_t a = (uint32_t)row_weights[2 * row];
            const uint32_t b = (uint32_t)row_weights[2 * row + 1];
            for (int first = 0; first < ${k.channels}; first += ${k.at_once}) {
% if channels == "channels":
                const int channels = first < ${k.channels - k.at_once} ? ${k.at_once} : ${k.channels} - first;
% endif
                const ${k.x_type} *upper = x + image * ${k.image} + row_places[2 * row] + first;
                const ${k.x_type} *lower = x + image * ${k.image} + row_places[2 * row + 1] + first;
                for (int column = 0; column < ${k.source_columns}; column++) {
                    for (int c = 0; c < ${channels}; c++) {
                        joined[column * ${k.at_once} + c] = ((uint8_t)upper[c]${k.flip}) * a + ((uint8_t)lower[c]${k.flip}) * b;
                    }
                    upper += ${k.channels};
                    lower += ${k.channels};
                }
                ${k.y_type} *to = y + first;
                for (int column = 0; column < ${k.columns}; column++) {
                    const uint32_t *const left = joined + column_places[2 * column];
                    const uint32_t *const right = joined + column_places[2 * column + 1];
                    const uint32_t p = (uint32_t)column_weights[2 * column];
                    const uint32_t q = (uint32_t)column_weights[2 * column + 1];
                    const int64_t offset = ${k.offset};
                    for (int c = 0; c < ${channels}; c++) {
                        to[c] = ${f.name}_code((uint64_t)left[c] * p + (uint64_t)right[c] * q, offset);
                    }
                    to += ${k.channels};
                }
            }
            y += ${k.columns * k.channels};
        }
    }
}
