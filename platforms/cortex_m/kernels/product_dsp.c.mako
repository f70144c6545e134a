<%
p = k.product
a, b, y = (p.place(n) if t == "int8_t" else f"({c}int8_t *){p.place(n)}" for n, t, c in (("a", k.a_type, "const "), ("b", k.b_type, "const "), ("y", k.y_type, "")))
%>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_dsp_product p = {${", ".join(f"{v}u" if v > 0x7fffffff else str(v) for v in k.shape)}};
    uint32_t *const packed = scratch;
% for head in p.loops:
${head}
% endfor
${p.indent}for (int column = 0; column < ${p.columns}; column += ${k.chunk}) {
${p.indent}    const int n = column < ${p.columns - k.chunk} ? column : ${p.columns - k.chunk};
${p.indent}    tilewright_product_pack(${b} + n * ${p.b_column}, packed, &p);
${p.indent}    tilewright_product${k.at_once}${k.form}(${a}, packed, packed + ${k.packed}, ${y} + n * ${p.y_column}, codes, &p);
${p.indent}}
% for end in p.ends:
${end}
% endfor
}
