<%namespace name="rows" file="/norm_factor_f32.c.mako"/>\
${rows.factor(f, k)}
TILEWRIGHT_EACH_ROUNDED static void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
    for (int row = 0; row < ${k.rows}; row++) {
        const float *const from = x + row * ${k.width};
        float *const to = y + row * ${k.width};
        const float factor = ${f.name}_factor(from);
        for (int i = 0; i < ${k.width}; i++) {
            to[i] = from[i] * factor * scale[i];
        }
    }
}
