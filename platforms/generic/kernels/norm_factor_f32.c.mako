## The factor of a row that is normalised, as a C function.
<%def name="summed(total, width, value, indent)">\
<%
eights = width // 8 * 8
%>\
% if eights:
${indent}float ${", ".join(f"{total}{n}" for n in range(8))};
% for n in range(8):
${indent}${total}${n} = ${value(f"from[{n}]")};
% endfor
${indent}for (int i = 8; i < ${eights}; i += 8) {
% for n in range(8):
${indent}    ${total}${n} += ${value(f"from[{plus('i', n)}]")};
% endfor
${indent}}
${indent}${total} = ((${total}0 + ${total}1) + (${total}2 + ${total}3)) + ((${total}4 + ${total}5) + (${total}6 + ${total}7));
% endif
% for n in range(eights, width):
${indent}${total} += ${value(f"from[{n}]")};
% endfor
</%def>\
<%def name="factor(f, k)">\
/* 1 / sqrt of the mean of squares, in eight sums, as NumPy adds up to 128 elements. */
TILEWRIGHT_EACH_ROUNDED static inline float ${f.name}_factor(const float *from${", float *centre" if k.centred else ""})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
    float squares = 0.0f;
% if k.centred:
    float mean = 0.0f;
${summed("mean", k.width, lambda element: element, "    ")}\
    mean /= ${k.width}.0f;
    *centre = mean;
% endif
% if k.centred:
${summed("squares", k.width, lambda element: f"({element} - mean) * ({element} - mean)", "    ")}\
% else:
${summed("squares", k.width, lambda element: f"{element} * {element}", "    ")}\
% endif
    return 1.0f / sqrtf(squares / ${k.width}.0f + ${k.epsilon});
}
</%def>\
