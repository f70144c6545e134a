<%
d, q = k.block, k.requantise
p = d.product
step = 2 if p.depth >= 2 else 1
whole = p.depth // step * step
%>\
<%def name="centred(code, zero)">${f"{code} - {zero}".replace("- -", "+ ") if zero else code}</%def>\
<%def name="products(indent, u)">
${indent}{
% for n in range(d.width):
${indent}    const int32_t w${n} = ${centred(f"b[{u * p.b_step + n * p.b_column}]", d.b_zero)};
% endfor
${indent}    int32_t v;
% for m in range(d.at_once):
${indent}    v = ${centred(f"a[{u * p.a_step + m * p.a_row}]", d.a_zero)};
% for n in range(d.width):
${indent}    s${m}_${n} += v * w${n};
% endfor
% endfor
${indent}}
</%def>\
${d.attribute} static void ${f.name}_block(const ${d.a_type} *a, const ${d.b_type} *b, ${d.y_type} *y)
{
% for m in range(d.at_once):
% for n in range(d.width):
    int32_t s${m}_${n} = 0;
% endfor
% endfor
    int32_t code;
    int i = ${whole};
    do {
        TILEWRIGHT_HIDE(a);
        TILEWRIGHT_HIDE(b);
% for u in range(step):
${products("        ", u)}\
% endfor
        a += ${step * p.a_step};
        b += ${step * p.b_step};
        i -= ${step};
    } while (i);
% for u in range(p.depth - whole):
${products("    ", u)}\
% endfor
% for name, value in q.of_layer:
    int32_t ${name} = ${value};
    TILEWRIGHT_HIDE(${name});
% endfor
% for m in range(d.at_once):
% for n in range(d.width):
    code = ${q.code(f"s{m}_{n}")};
    code = code < low ? low : code;
    code = code > high ? high : code;
    y[${m * p.y_row + n * p.y_column}] = (${d.y_type})code;
% endfor
% endfor
}

static void ${f.name}_matrix(const ${d.a_type} *a, const ${d.b_type} *b, ${d.y_type} *y)
{
    for (int row = 0; row < ${p.rows}; row += ${d.at_once}) {
% if p.a_row or p.y_row:
        const int m = row < ${p.rows - d.at_once} ? row : ${p.rows - d.at_once};
% endif
        for (int column = 0; column < ${p.columns}; column += ${d.width}) {
% if p.b_column or p.y_column:
            const int n = column < ${p.columns - d.width} ? column : ${p.columns - d.width};
% endif
            ${f.name}_block(${added("a", times("m", p.a_row))}, ${added("b", times("n", p.b_column))}, ${added("y", times("m", p.y_row), times("n", p.y_column))});
        }
    }
}

static void ${f.name}(${f.parameters})
{
% for head in p.loops:
${head}
% endfor
${p.indent}${f.name}_matrix(${p.place("a")}, ${p.place("b")}, ${p.place("y")});
% for end in p.ends:
${end}
% endfor
}
