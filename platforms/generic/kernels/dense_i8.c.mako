<%
q = k.requantise
%>\
% for block in k.blocks:
${k.attribute} ${f.storage} void ${f.name}_block${block.width}(const ${k.x_type} *${f.restrict}x, const ${k.w_type} *${f.restrict}w, const int32_t *${f.restrict}b, ${q.parameters}${k.y_type} *${f.restrict}y)
{
    int32_t acc[${k.at_once}][${block.width}];
    for (int p = 0; p < ${k.at_once}; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            acc[p][o] = b[o];
        }
    }
    for (int i = 0; i < ${k.depth}; i++) {
        for (int p = 0; p < ${k.at_once}; p++) {
            for (int o = 0; o < ${block.width}; o++) {
                acc[p][o] += (int32_t)x[${times("p", k.depth)} + i] * w[${times("i", block.width)} + o];
            }
        }
    }
    for (int p = 0; p < ${k.at_once}; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            int32_t code = ${q.code("acc[p][o]", "o")};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${times("p", k.columns)} + o] = (${k.y_type})code;
        }
    }
}

% endfor
${f.storage} void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m += ${k.at_once}) {
        const int at = m < ${k.rows - k.at_once} ? m : ${k.rows - k.at_once};
% for block in k.blocks:
        for (int n = 0; n < ${block.count}; n++) {
            const int column = ${plus(times("n", block.width), block.first)};
            ${f.name}_block${block.width}(a + ${times("at", k.depth)}, w + ${plus(times("n", block.width * k.depth), block.weights)}, bias + column, ${q.arguments("column")}y + ${times("at", k.columns)} + column);
        }
% endfor
    }
}
