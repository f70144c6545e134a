% for block in k.blocks:
${k.attribute} ${f.storage} void ${f.name}_block${block.width}(const float *${f.restrict}x, const float *${f.restrict}w, ${f"const float *{f.restrict}b, " if k.bias else ""}float *${f.restrict}y)
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
                acc[p][o] += x[${times("p", k.depth)} + i] * w[${times("i", block.width)} + o];
            }
        }
    }
    for (int p = 0; p < ${k.at_once}; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            const float v = acc[p][o];
            y[${times("p", k.columns)} + o] = ${k.clamp};
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
            ${f.name}_block${block.width}(a + ${times("at", k.depth)}, w + ${plus(times("n", block.width * k.depth), block.weights)}, ${f"bias + {plus(times('n', block.width), block.first)}, " if k.bias else ""}y + ${times("at", k.columns)} + ${plus(times("n", block.width), block.first)});
        }
% endfor
    }
}
