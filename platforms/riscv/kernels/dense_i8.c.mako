<%
q = k.requantise
step = 4 if k.depth >= 4 else 1
whole = k.depth // step * step
%>\
<%def name="product(block, indent, u)">
${indent}{
% for p in range(k.at_once):
${indent}    const int32_t v${p} = x[${p * k.depth + u}];
% endfor
${indent}    int32_t v;
% for o in range(block.width):
${indent}    v = w[${u * block.width + o}];
% for p in range(k.at_once):
${indent}    s${p}_${o} += v${p} * v;
% endfor
% endfor
${indent}}
</%def>\
% for block in k.blocks:
${k.attribute} static void ${f.name}_block${block.width}(const ${k.x_type} *x, const ${k.w_type} *w, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
% for o in range(block.width):
    const int32_t b${o} = b[${o}];
% endfor
% for p in range(k.at_once):
% for o in range(block.width):
    int32_t s${p}_${o} = b${o};
% endfor
% endfor
    int32_t code;
    const ${k.w_type} *const end = ${plus("w", whole * block.width)};
    do {
        TILEWRIGHT_HIDE(x);
% for u in range(step):
${product(block, "        ", u)}\
% endfor
        x = &x[${step}];
        w = &w[${step * block.width}];
    } while (w != end);
% for u in range(k.depth - whole):
${product(block, "    ", u)}\
% endfor
% for name, value in q.of_layer:
    int32_t ${name} = ${value};
    TILEWRIGHT_HIDE(${name});
% endfor
% for o in range(block.width):
    {
% for c_type, name in q.of_channel:
        const ${c_type} ${name} = ${name}s[${o}];
% endfor
% for p in range(k.at_once):
        code = ${q.code(f"s{p}_{o}")};
        code = code < low ? low : code;
        code = code > high ? high : code;
        y[${p * k.columns + o}] = (${k.y_type})code;
% endfor
    }
% endfor
}

% endfor
static void ${f.name}(${f.parameters})
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
