<%
e = k.extent
u = "u" if e.x_type.startswith("u") else "s"
half = "uint16_t" if u == "u" else "int16_t"
whole = e.at_once == e.channels
word = "vreinterpretq_s32_u32({})" if u == "u" else "{}"
ragged = e.channels % 4 or e.at_once % 4
some = ", some" if ragged else ""
z, p = ("_z", "_p") if ragged else ("", "")
load = word.format(f"vldrhq{z}_{u}32({{}} + c{some})")
y = f"(int8_t *)to" if e.y_type.startswith("u") else "to"
%>\
/* Codes of two rows as one, in halves. */
TILEWRIGHT_MVE_INTO void ${f.name}_joined(const ${e.x_type} *upper, const ${e.x_type} *lower, ${half} *to, ${half} a, ${half} b, int codes)
{
    for (int i = 0; i < codes; i += 8) {
        const mve_pred16_t some = vctp16q((uint32_t)(codes - i));
        const ${u.replace("s", "")}int16x8_t first = vmulq_n_${u}16(vldrbq_z_${u}16(upper + i, some), a);
        vstrhq_p_${u}16(to + i, vmlaq_n_${u}16(first, vldrbq_z_${u}16(lower + i, some), b), some);
    }
}

TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    ${half} *const joined = scratch;
    const int32x4_t low = vdupq_n_s32(${k.low});
    const int32x4_t high = vdupq_n_s32(${k.high});
    const int32x4_t start = vdupq_n_s32(${-k.offset});
    for (int image = 0; image < ${e.images}; image++) {
        for (int row = 0; row < ${e.rows}; row++) {
            const ${e.x_type} *const upper = x + image * ${e.image} + row_places[2 * row];
            const ${e.x_type} *const lower = x + image * ${e.image} + row_places[2 * row + 1];
            const ${half} a = (${half})row_weights[2 * row];
            const ${half} b = (${half})row_weights[2 * row + 1];
% if whole:
            {
                const int channels = ${e.channels};
                ${f.name}_joined(upper, lower, joined, a, b, ${e.source_columns * e.channels});
                ${e.y_type} *to = y;
% else:
            for (int first = 0; first < ${e.channels}; first += ${e.at_once}) {
                const int channels = first < ${e.channels - e.at_once} ? ${e.at_once} : ${e.channels} - first;
                for (int column = 0; column < ${e.source_columns}; column++) {
                    const int at = column * ${e.channels} + first;
                    ${f.name}_joined(upper + at, lower + at, joined + column * channels, a, b, channels);
                }
                ${e.y_type} *to = y + first;
% endif
                for (int column = 0; column < ${e.columns}; column++) {
                    const ${half} *const left = joined + column_places[2 * column] * channels;
                    const ${half} *const right = joined + column_places[2 * column + 1] * channels;
                    for (int c = 0; c < channels; c += 4) {
% if ragged:
                        const mve_pred16_t some = vctp32q((uint32_t)(channels - c));
% endif
                        int32x4_t sum = vmlaq_n_s32(start, ${load.format("left")}, column_weights[2 * column]);
                        sum = vmlaq_n_s32(sum, ${load.format("right")}, column_weights[2 * column + 1]);
                        vstrbq${p}_s32(${y} + c, vminq_s32(vmaxq_s32(${k.code}, low), high)${some});
                    }
                    to += ${e.channels};
                }
            }
            y += ${e.columns * e.channels};
        }
    }
}
