<%
b = k.block
zero = str(b.zero) if b.zero is not None else "zero"
def code(at):
    return f"((w[({at}) / 2] >> (({at}) % 2 * 4)) & 15)" if k.four else f"w[{at}]"
%>\
/* ${k.rows} rows of ${k.depth} by ${k.columns} columns of codes, each ${b.size} of them with a scale. */
${f.storage} void ${f.name}(${f.parameters})
{
% if k.rows > 1:
    float *const weights = (float *)scratch;
% endif
    for (int n = 0; n < ${k.columns}; n++) {
        const uint8_t *w = codes + n * ${k.row_bytes};
% if k.rows == 1:
        const float *from = a;
        float total = ${"bias[n]" if k.bias else "0.0f"};
% endif
        for (int block = 0; block < ${b.count}; block++) {
% if b.count > 1 and b.last != b.size:
            const int size = block < ${b.count - 1} ? ${b.size} : ${b.last};
% else:
            const int size = ${b.last};
% endif
% if b.zero is None:
% if k.four:
            const int at = n * ${k.zero_row} + block;
            const int zero = (zero_point[at / 2] >> (at % 2 * 4)) & 15;
% else:
            const int zero = zero_point[n * ${k.zero_row} + block];
% endif
% endif
            const float step = scale[n * ${b.count} + block];
% if k.rows > 1:
            for (int k = 0; k < size; k++) {
                weights[block * ${b.size} + k] = step * (float)((int)${code("k")} - ${zero});
            }
% else:
            float sum = 0.0f;
% if k.four:
            int k = 0;
            for (; k < size - 1; k += 2) {
                const int pair = w[k / 2];
                sum += from[k] * (float)((pair & 15) - ${zero});
                sum += from[k + 1] * (float)((pair >> 4) - ${zero});
            }
            if (k < size) {
                sum += from[k] * (float)((w[k / 2] & 15) - ${zero});
            }
% else:
            for (int k = 0; k < size; k++) {
                sum += from[k] * (float)((int)w[k] - ${zero});
            }
% endif
            total += sum * step;
            from += size;
% endif
            w += ${"size / 2" if k.four else "size"};
        }
% if k.rows > 1:
        for (int row = 0; row < ${k.rows}; row++) {
            const float *from = a + row * ${k.depth};
            float total = ${"bias[n]" if k.bias else "0.0f"};
            for (int k = 0; k < ${k.depth}; k++) {
                total += from[k] * weights[k];
            }
            y[row * ${k.columns} + n] = total;
        }
% else:
        y[n] = total;
% endif
    }
}
