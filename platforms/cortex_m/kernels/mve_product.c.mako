<%
p = k.product
a, b, y = (p.place(n) if t == "int8_t" else f"({c}int8_t *){p.place(n)}" for n, t, c in (("a", k.a_type, "const "), ("b", k.b_type, "const "), ("y", k.y_type, "")))
%>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_product_vectors p = {${", ".join(map(str, k.shape))}};
    int8_t *const packed = scratch;
    int32_t *const starts = (int32_t *)(void *)(packed + ${k.starts});
% for head in p.loops:
${head}
% endfor
${p.indent}for (int column = 0; column < ${p.columns}; column += ${k.chunk}) {
${p.indent}    const int n = column < ${p.columns - k.chunk} ? column : ${p.columns - k.chunk};
${p.indent}    tilewright_product_columns(${b} + n * ${p.b_column}, packed, starts, &p);
% if k.line:
${p.indent}    tilewright_product_rows(${a}, packed, starts, ${y} + n * ${p.y_column}, codes, ${k.line}, &p);
% else:
${p.indent}    tilewright_product_lines${k.form}(${a}, packed, starts, packed + ${k.copy}, ${y} + n * ${p.y_column}, codes, &p);
% endif
${p.indent}}
% for end in p.ends:
${end}
% endfor
}
