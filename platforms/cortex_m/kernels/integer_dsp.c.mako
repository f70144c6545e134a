<%
p = k.product
a, b = (p.place(n) if t == "int8_t" else f"(const int8_t *){p.place(n)}" for n, t in (("a", k.a_type), ("b", k.b_type)))
%>\
static void ${f.name}(${f.parameters})
{
    tilewright_dsp_product p = {${", ".join(f"{v}u" if v > 0x7fffffff else str(v) for v in k.shape)}};
    uint32_t *const packed = scratch;
    p.a_zero = ${k.zeros[0]};
    p.b_zero = ${k.zeros[1]};
% for head in p.loops:
${head}
% endfor
${p.indent}for (int column = 0; column < ${p.columns}; column += ${k.chunk}) {
${p.indent}    const int n = column < ${p.columns - k.chunk} ? column : ${p.columns - k.chunk};
${p.indent}    int32_t *const to = ${p.place("y")} + n * ${p.y_column};
${p.indent}    tilewright_product_pack(${b} + n * ${p.b_column}, packed, &p);
${p.indent}    tilewright_product${k.at_once}_sums(${a}, packed, packed + ${k.at[0]}, (int8_t *)to, 0, &p);
${p.indent}}
% for end in p.ends:
${end}
% endfor
}
