<%def name="horner(names, variable)">${"(" * (len(names) - 1)}${names[0]}${"".join(f" * {variable} + {name})" for name in names[1:])}</%def>\
<%def name="exponential(indent)">\
${indent}const float limited = power < ${k.farthest} ? power : ${k.farthest};
${indent}const float whole = TILEWRIGHT_WHOLE(limited * ${k.turns});
${indent}const float rest = (limited - whole * ${k.high_part}) + whole * ${k.low_part};
${indent}const float curve = ${horner(k.exponential, "rest")} * rest * rest - rest;
${indent}const uint32_t bits = (uint32_t)(127 - (int32_t)whole) << 23;
${indent}float scale;
${indent}memcpy(&scale, &bits, sizeof scale);
</%def>\
${k.attribute} TILEWRIGHT_SIDE_BY_SIDE ${f.storage} void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ALONE
    for (int i = 0; i < ${k.elements}; i++) {
        const float a = x[i];
        const float t = ${k.function.t};
% if k.error:
        const float near = fabsf(t) < ${k.error_end} ? fabsf(t) : ${k.error_end};
        float lost;
        if (TILEWRIGHT_ONE_SIDE && near < 1.0f) {
            const float square = near * near;
            lost = -(${horner(k.error_near, "square")} * near);
        } else {
            const float power = ${horner(k.error, "near")} * near;
            /* exp(-power) = 2^-whole * exp(-rest) */
${exponential("            ")}\
            lost = scale * curve + (scale - 1.0f);
        }
% else:
        const float power = ${k.function.power};
        /* exp(-power) = 2^-whole * exp(-rest) */
${exponential("        ")}\
% if "lost" in k.function.value:
        const float lost = scale * curve + (scale - 1.0f);
% endif
% if "left" in k.function.value:
        const float left = scale * curve + scale;
% endif
% endif
        y[i] = ${k.function.value};
    }
}
