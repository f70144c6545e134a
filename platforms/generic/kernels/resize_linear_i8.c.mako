<%
e = k.extent
q = k.requantise
fours = e.channels - e.channels % 4
word = " ^ 0x80808080u" if k.flip else ""
plain = (q.low, q.high, e.y_type) == (-128, 127, "int8_t")
%>\
static inline ${e.y_type} ${f.name}_code(uint32_t total)
{
    const int32_t sum = (int32_t)total - ${k.offset};
    const int32_t code = ${q.code("sum")};
% if plain:
    return (int8_t)tilewright_saturated(code);
% else:
    return (${e.y_type})(code < ${q.low} ? ${q.low} : code > ${q.high} ? ${q.high} : code);
% endif
}

% if fours:
/* Four codes, the first in the lowest byte. */
static inline uint32_t ${f.name}_four(const ${e.x_type} *x)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t word;
    (void)memcpy(&word, x, sizeof word);
    return word${word};
#else
    return ((uint32_t)(uint8_t)x[0] | (uint32_t)(uint8_t)x[1] << 8 | (uint32_t)(uint8_t)x[2] << 16 | (uint32_t)(uint8_t)x[3] << 24)${word};
#endif
}

/* Two rows of some channels as one, codes 0 and 2 and codes 1 and 3 of each four in a word. */
static void ${f.name}_rows(const ${e.x_type} *upper, const ${e.x_type} *lower, uint32_t *to, uint32_t a, uint32_t b, int channels)
{
    for (int column = 0; column < ${e.source_columns}; column++) {
        for (int c = 0; c < channels; c += 4) {
            const uint32_t u = ${f.name}_four(upper + c);
            const uint32_t v = ${f.name}_four(lower + c);
            to[0] = (u & 0xff00ffu) * a + (v & 0xff00ffu) * b;
            to[1] = (u >> 8 & 0xff00ffu) * a + (v >> 8 & 0xff00ffu) * b;
            to += 2;
        }
        upper += ${e.channels};
        lower += ${e.channels};
    }
}

% endif
static void ${f.name}(${f.parameters})
{
% if fours:
    uint32_t *const joined = scratch;
% endif
    for (int image = 0; image < ${e.images}; image++) {
        for (int row = 0; row < ${e.rows}; row++) {
            const ${e.x_type} *const upper = x + image * ${e.image} + row_places[2 * row];
            const ${e.x_type} *const lower = x + image * ${e.image} + row_places[2 * row + 1];
            const uint32_t a = (uint32_t)row_weights[2 * row];
            const uint32_t b = (uint32_t)row_weights[2 * row + 1];
% if fours:
            for (int first = 0; first < ${fours}; first += ${e.at_once}) {
                const int channels = first < ${fours - e.at_once} ? ${e.at_once} : ${fours} - first;
                ${f.name}_rows(upper + first, lower + first, joined, a, b, channels);
                ${e.y_type} *to = y + first;
                for (int column = 0; column < ${e.columns}; column++) {
                    const uint32_t *left = joined + column_places[2 * column] * (channels / 2);
                    const uint32_t *right = joined + column_places[2 * column + 1] * (channels / 2);
                    const uint32_t p = (uint32_t)column_weights[2 * column];
                    const uint32_t q = (uint32_t)column_weights[2 * column + 1];
                    for (int c = 0; c < channels; c += 4) {
                        const uint32_t even = left[0] * p + right[0] * q;
                        const uint32_t odd = left[1] * p + right[1] * q;
                        left += 2;
                        right += 2;
                        to[0] = ${f.name}_code(even & 0xffffu);
                        to[1] = ${f.name}_code(odd & 0xffffu);
                        to[2] = ${f.name}_code(even >> 16);
                        to[3] = ${f.name}_code(odd >> 16);
                        to += 4;
                    }
                    to += ${e.channels} - channels;
                }
            }
% endif
% if fours < e.channels:
            for (int column = 0; column < ${e.columns}; column++) {
                const int left = column_places[2 * column] * ${e.channels};
                const int right = column_places[2 * column + 1] * ${e.channels};
                const uint32_t p = (uint32_t)column_weights[2 * column];
                const uint32_t q = (uint32_t)column_weights[2 * column + 1];
                for (int c = ${fours}; c < ${e.channels}; c++) {
                    const uint32_t before = ((uint8_t)upper[left + c]${k.flip}) * a + ((uint8_t)lower[left + c]${k.flip}) * b;
                    const uint32_t behind = ((uint8_t)upper[right + c]${k.flip}) * a + ((uint8_t)lower[right + c]${k.flip}) * b;
                    y[column * ${e.channels} + c] = ${f.name}_code(before * p + behind * q);
                }
            }
% endif
            y += ${e.columns * e.channels};
        }
    }
}
