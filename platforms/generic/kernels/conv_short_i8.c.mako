<%
q = k.requantise
%>\
% for block in k.blocks:
${k.attribute} static void ${f.name}_block${block.width}(const ${k.x_type} *restrict x, const int32_t *restrict w, const int32_t *restrict b, ${q.parameters}${k.y_type} *restrict y)
{
    int32_t acc[${k.pixels}][${block.width}];
    for (int p = 0; p < ${k.pixels}; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            acc[p][o] = b[o];
        }
    }
    for (int i = 0; i < ${k.channels}; i++) {
        for (int p = 0; p < ${k.pixels}; p++) {
            for (int o = 0; o < ${block.width}; o++) {
                acc[p][o] += x[p * ${k.channels} + i] * w[i * ${block.width} + o];
            }
        }
    }
    for (int p = 0; p < ${k.pixels}; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            int32_t code = (int32_t)(${q.code("acc[p][o]", "o")});
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[p * ${k.out_channels} + o] = (${k.y_type})code;
        }
    }
}

% endfor
static void ${f.name}(${f.parameters})
{
    for (int n = 0; n < ${k.results}; n += ${k.pixels}) {
        const int at = n < ${k.results - k.pixels} ? n : ${k.results - k.pixels};
% for block in k.blocks:
        for (int m = 0; m < ${block.count}; m++) {
            const int channel = ${block.first} + m * ${block.width};
            ${f.name}_block${block.width}(x + at * ${k.channels}, w + channel * ${k.channels}, b + channel, ${q.arguments("channel")}y + at * ${k.out_channels} + channel);
        }
% endfor
    }
}
