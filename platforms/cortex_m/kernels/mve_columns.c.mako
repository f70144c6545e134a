<%
h, w = k.h, k.w
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
row = "TILEWRIGHT_MVE_ROW_NINE" if k.nine else "TILEWRIGHT_MVE_ROW"
back, y_back = (4 - k.rest) * w.stride * 64, (4 - k.rest) * k.channels
%>\
% if k.squares:
TILEWRIGHT_MVE_SQUARES(${f.name}_rows,
% if k.whole:
    TILEWRIGHT_MVE_LOOP("${k.whole}", "${k.shift}", "${4 * k.channels}")
% if k.rest:
    TILEWRIGHT_MVE_AGAIN("${k.shift}", "${back}", "${y_back}")
% endif
% else:
    TILEWRIGHT_MVE_TWO_SQUARES("${64 * (w.out - 2)}", "${k.shift}")
% endif
)
% else:
TILEWRIGHT_MVE_EVERY(${f.name}_row,
% if k.whole:
    TILEWRIGHT_MVE_ROW_LOOP(${row}, "${k.whole}", "${k.shift}", "${4 * w.stride * 64}", "${4 * k.channels}")
% if k.rest:
    TILEWRIGHT_MVE_ROW_AGAIN(${row}, "${k.shift}", "${back}", "${y_back}")
% endif
% else:
    ${row}("${k.shift}")
% endif
% if k.nine:
    TILEWRIGHT_MVE_NINE_NEXT
% endif
)
% endif

static void ${f.name}(${f.parameters})
{
% for name, at in zip(("both", "one")[: 1 + h.out % 2] if k.squares else ("places",), k.places):
    static const ${"uint16_t" if k.squares else "uint32_t"} ${name}[] = {${", ".join(map(str, at))}};
% endfor
    int8_t *const columns = scratch;
% if k.columns > k.filled:
    for (int i = 0; i < ${64 * k.columns}; i += 16) {
        vstrbq_s8(columns + i, vdupq_n_s8(${k.zero_point}));
    }
% endif
% if k.squares:
    for (int c = 0; c < ${k.channels}; c += 16) {
        const int count = ${k.channels} - c < 16 ? ${k.channels} - c : 16;
        /* The first turn brings two rows before those that the first results need last. */
        for (int oh = -2; oh < ${h.out}; oh += 2) {
            const int ih = oh + ${2 - h.pad};
            const bool upper = ih >= 0 && ih < ${h.size};
            const bool lower = ih >= -1 && ih < ${h.size - 1};
            const int8_t *const from = x + ih * ${h.x_stride} + c;
            tilewright_mve_turn(columns + ${64 * w.pad}, upper ? from : pad, upper ? ${k.channels} : 0,
                lower ? from + ${h.x_stride} : pad, lower ? ${k.channels} : 0, ${k.filled}, count);
            if (oh >= 0) {
% if h.out % 2:
                const bool single = oh == ${h.out - 1};
                ${f.name}_rows(columns, stream + c * ${k.words}, ${y} + oh * ${w.out * k.channels} + c, single ? one : both, single ? 0 : 8, count);
% else:
                ${f.name}_rows(columns, stream + c * ${k.words}, ${y} + oh * ${w.out * k.channels} + c, both, 8, count);
% endif
            }
        }
    }
% else:
    for (int oh = 0; oh < ${h.out}; oh++) {
        for (int c = 0; c < ${k.channels}; c += 16) {
            const int count = ${k.channels} - c < 16 ? ${k.channels} - c : 16;
            const int8_t *rows[3];
            uint32_t steps[3];
            const uint32_t step = ${k.channels}u;
            for (int i = 0; i < 3; i++) {
                const int ih = ${plus(times("oh", h.stride), -h.pad)} + ${times("i", h.dilation)};
                const bool inside = ih >= 0 && ih < ${h.size};
                rows[i] = inside ? x + ih * ${h.x_stride} + c : pad;
                steps[i] = inside ? step : 0u;
            }
            tilewright_mve_skim(columns + ${64 * w.pad}, rows, steps, ${k.filled}, count);
            ${f.name}_row(columns, stream + c * ${k.words}, ${y} + oh * ${w.out * k.channels} + c, places, count);
        }
    }
% endif
}
