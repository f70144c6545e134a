<% p = k.portable %>\
/* Codes one by one, of what may be no number too. */
static void ${f.name}_each(const float *x, ${p.code_type} *y, int count)
{
    for (int i = 0; i < count; i++) {
        float steps = x[i] / ${p.step};
        steps = steps > ${p.low} ? steps : ${p.low}; /* what is no number becomes the lowest code */
        steps = steps < ${p.high} ? steps : ${p.high};
        y[i] = (${p.code_type})(${p.nearest}(steps)${f" + {p.zero}" if p.zero > 0 else f" - {-p.zero}" if p.zero else ""});
    }
}

TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
% if p.elements >= 4:
    for (int i = 0; i < ${p.elements // 4 * 4}; i += 4) {
        if (tilewright_fpu_no_numbers(x + i) != 0) {
            ${f.name}_each(x + i, y + i, 4);
            continue;
        }
        TILEWRIGHT_UNROLL_FOUR
        for (int j = 0; j < 4; j++) {
            const int32_t code = tilewright_fpu_code(x[i + j], ${p.step}, ${p.zero});
            y[i + j] = (${p.code_type})${k.limited};
        }
    }
% endif
% if p.elements % 4:
    ${f.name}_each(${plus("x", p.elements // 4 * 4)}, ${plus("y", p.elements // 4 * 4)}, ${p.elements % 4});
% endif
}
