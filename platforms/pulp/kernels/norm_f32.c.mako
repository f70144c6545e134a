<%
lanes = range(8)
eights = k.width // 8 * 8
%>\
<%def name="summed(total, value, indent)">\
% if eights:
${indent}float ${", ".join(f"{total}{n}" for n in lanes)};
% for n in lanes:
${indent}${total}${n} = ${value(f"from[{n}]")};
% endfor
${indent}for (int i = 8; i < ${eights}; i += 8) {
% for n in lanes:
${indent}    ${total}${n} += ${value(f"from[i + {n}]")};
% endfor
${indent}}
${indent}${total} = ((${total}0 + ${total}1) + (${total}2 + ${total}3)) + ((${total}4 + ${total}5) + (${total}6 + ${total}7));
% endif
% for n in range(eights, k.width):
${indent}${total} += ${value(f"from[{n}]")};
% endfor
</%def>\
/* 1 / sqrt of the mean of squares, in eight sums, as NumPy adds up to 128 elements. */
TILEWRIGHT_EACH_ROUNDED static inline float ${f.name}_factor(const float *from${", float *centre" if k.centred else ""})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
    float squares = 0.0f;
% if k.centred:
    float mean = 0.0f;
${summed("mean", lambda element: element, "    ")}\
    mean /= ${k.width}.0f;
    *centre = mean;
% endif
% if k.centred:
${summed("squares", lambda element: f"({element} - mean) * ({element} - mean)", "    ")}\
% else:
${summed("squares", lambda element: f"{element} * {element}", "    ")}\
% endif
    return 1.0f / sqrtf(squares / ${k.width}.0f + ${k.epsilon});
}

/* Rows are shared among the cores, elements where there are fewer rows than cores: each then sums a whole row. */
TILEWRIGHT_EACH_ROUNDED static void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
    const int by_row = tile->rows >= cores;
    const int last_row = by_row ? tilewright_share(tile->rows, core + 1, cores) : tile->rows;
    const int first = by_row ? 0 : tilewright_share(${k.width}, core, cores);
    const int end = by_row ? ${k.width} : tilewright_share(${k.width}, core + 1, cores);
    for (int row = by_row ? tilewright_share(tile->rows, core, cores) : 0; row < last_row; row++) {
        const float *const from = x + row * ${k.width};
        float *const to = y + row * ${k.width};
% if k.centred:
        float mean;
        const float factor = ${f.name}_factor(from, &mean);
% else:
        const float factor = ${f.name}_factor(from);
% endif
        for (int i = first; i < end; i++) {
            to[i] = ${"(from[i] - mean)" if k.centred else "from[i]"} * factor * scale[i]${" + bias[i]" if k.bias else ""};
        }
    }
}
