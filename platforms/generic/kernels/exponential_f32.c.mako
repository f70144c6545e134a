<%def name="horner(names, variable)">${"(" * (len(names) - 1)}${names[0]}${"".join(f" * {variable} + {name})" for name in names[1:])}</%def>\
<%def name="exponential(e, indent)">\
${indent}const float limited = power < ${e.farthest} ? power : ${e.farthest};
${indent}const float whole = TILEWRIGHT_WHOLE(limited * ${e.turns});
${indent}const float rest = (limited - whole * ${e.high_part}) + whole * ${e.low_part};
${indent}const float curve = ${horner(e.curve, "rest")} * rest * rest - rest;
${indent}const int32_t exponent = 127 - (int32_t)whole;
${indent}const union {
${indent}    uint32_t bits;
${indent}    float value;
${indent}} power_of_two = {(uint32_t)exponent << 23};
${indent}const float scale = power_of_two.value;
</%def>\
