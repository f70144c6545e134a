<%namespace name="parts" file="/mve_float_parts.c.mako"/>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
% if k.few:
    for (int m = 0; m < ${k.rows}; m++) {
        const float *const row = a + ${times("m", k.inputs)};
        float *const to = y + ${times("m", k.columns)};
        const float *weights = w;
${parts.row(k.columns, k.inputs, k.clamp, "        ")}\
    }
% else:
    for (int p = 0; p < ${k.rows}; p += 4) {
        const int at = ${f"p < {max(k.rows - 4, 0)} ? p : {max(k.rows - 4, 0)}"};
        const float *const rows = a + ${times("at", k.inputs)};
        const float *const sources[4] = {${", ".join(plus("rows", place * k.inputs) for place in k.places)}};
        float *const to = y + ${times("at", k.columns)};
        const float *weights = w;
${parts.block(k.columns, k.inputs, k.columns, k.places, k.clamp, "        ", lines=True)}\
    }
% endif
}
