<%namespace name="parts" file="/exponential_f32.c.mako"/>\
${k.attribute} TILEWRIGHT_SIDE_BY_SIDE ${f.storage} void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ALONE
    for (int i = ${k.first}; i < ${k.end}; i++) {
        const float a = x[i];
        const float t = ${k.function.t};
% if k.error:
        const float near = fabsf(t) < ${k.error_end} ? fabsf(t) : ${k.error_end};
        float lost;
        if (TILEWRIGHT_ONE_SIDE && near < 1.0f) {
            const float square = near * near;
            lost = -(${parts.horner(k.error_near, "square")} * near);
        } else {
            const float power = ${parts.horner(k.error, "near")} * near;
            /* exp(-power) = 2^-whole * exp(-rest) */
${parts.exponential(k.exponential, "            ")}\
            lost = scale * curve + (scale - 1.0f);
        }
% else:
        const float power = ${k.function.power};
        /* exp(-power) = 2^-whole * exp(-rest) */
${parts.exponential(k.exponential, "        ")}\
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
