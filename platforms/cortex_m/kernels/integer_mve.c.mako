<%
p = k.product
a, b = (p.place(n) if t == "int8_t" else f"(const int8_t *){p.place(n)}" for n, t in (("a", k.a_type), ("b", k.b_type)))
%>\
static void ${f.name}(${f.parameters})
{
    tilewright_product_vectors p = {${", ".join(map(str, k.shape))}};
    int8_t *const packed = scratch;
    int32_t *const starts = (int32_t *)(void *)(packed + ${k.at[0]});
    p.a_zero = ${k.zeros[0]};
    p.b_zero = ${k.zeros[1]};
% for head in p.loops:
${head}
% endfor
${p.indent}for (int column = 0; column < ${p.columns}; column += ${k.chunk}) {
${p.indent}    const int n = column < ${p.columns - k.chunk} ? column : ${p.columns - k.chunk};
${p.indent}    int32_t *const to = ${p.place("y")} + n * ${p.y_column};
${p.indent}    tilewright_product_columns(${b} + n * ${p.b_column}, packed, starts, &p);
${p.indent}    tilewright_product_lines${"_short" if p.depth <= 8 else ""}_sums(${a}, packed, starts, packed + ${k.at[1]}, (int8_t *)to, 0, &p);
${p.indent}}
% for end in p.ends:
${end}
% endfor
}
