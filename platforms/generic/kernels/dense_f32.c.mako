% for block in k.blocks:
${k.attribute} ${f.storage} void ${f.name}_block${block.width}(const float *restrict x, const float *restrict w, ${"const float *restrict b, " if k.bias else ""}float *restrict y)
{
    float acc[${k.at_once}][${block.width}];
    for (int p = 0; p < ${k.at_once}; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            acc[p][o] = ${"b[o]" if k.bias else "0.0f"};
        }
    }
    for (int i = 0; i < ${k.depth}; i++) {
        for (int p = 0; p < ${k.at_once}; p++) {
            for (int o = 0; o < ${block.width}; o++) {
                acc[p][o] += x[p * ${k.depth} + i] * w[i * ${block.width} + o];
            }
        }
    }
    for (int p = 0; p < ${k.at_once}; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            const float v = acc[p][o];
            y[p * ${k.columns} + o] = ${k.clamp};
        }
    }
}

% endfor
${k.attribute} ${f.storage} void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m += ${k.at_once}) {
        const int at = m < ${k.rows - k.at_once} ? m : ${k.rows - k.at_once};
% for block in k.blocks:
        for (int n = 0; n < ${block.count}; n++) {
            ${f.name}_block${block.width}(a + at * ${k.depth}, w + ${block.weights} + n * ${block.width * k.depth}, ${f"bias + {block.first} + n * {block.width}, " if k.bias else ""}y + at * ${k.columns} + ${block.first} + n * ${block.width});
        }
% endfor
    }
}
