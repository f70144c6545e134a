<%def name="horner(names, variable)">${"(" * (len(names) - 1)}${names[0]}${"".join(f" * {variable} + {name})" for name in names[1:])}</%def>\
${k.attribute} TILEWRIGHT_SIDE_BY_SIDE ${f.storage} void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ALONE
    for (int i = 0; i < ${k.elements}; i++) {
        const float a = x[i];
        const float t = ${k.function.t};
% if k.error:
        const float near = fabsf(t) < ${k.error_end} ? fabsf(t) : ${k.error_end};
        const float power = ${horner(k.error, "near")} * near;
% else:
        const float power = ${k.function.power};
% endif
        /* exp(-power) = 2^-whole * exp(-rest) */
        const float limited = power < ${k.farthest} ? power : ${k.farthest};
        const float whole = TILEWRIGHT_WHOLE(limited * ${k.turns});
        const float rest = (limited - whole * ${k.high_part}) + whole * ${k.low_part};
        const float curve = ${horner(k.exponential, "rest")} * rest * rest - rest;
        const uint32_t bits = (uint32_t)(127 - (int32_t)whole) << 23;
        float scale;
        memcpy(&scale, &bits, sizeof scale);
% if "lost" in k.function.value:
        const float lost = scale * curve + (scale - 1.0f);
% endif
% if "left" in k.function.value:
        const float left = scale * curve + scale;
% endif
        y[i] = ${k.function.value};
    }
}
