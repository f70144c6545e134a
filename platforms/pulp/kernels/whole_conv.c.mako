<%
lanes, length = k.lanes, k.line.length
def over(dilation, begin):
    return f"-{begin}" if dilation == 1 else f"({dilation - 1} - {begin}) / {dilation}"
last = "tile->channels - 1"
%>\
<%def name="step(tap, by)">\
<% indent = " " * (8 if k.kernel == (1, 1) else 16) %>\
${indent}const uint32_t word = tilewright_whole_bits(from), sign = 0u - (word >> 31);
${indent}const uint32_t size = tilewright_whole_size(word, top, ${k.line.bits});
${indent}const uint32_t code = (size ^ sign) - sign;
${indent}int32_t value = (int32_t)code;
${indent}TILEWRIGHT_WHOLE_WORD(value);
${indent}sizes += size >> ${k.line.share};
% for n in range(lanes):
${indent}s${n} += (int64_t)value * w${n}[${tap}];
% endfor
${indent}from = &from[${by}];
</%def>\
/* One tile, dense, channels first: results, the box of operands, and the rows and columns of padding before it. */
typedef struct {
    int images, groups, channels, rows, columns, in_rows, in_columns, top, left;
} ${f.name}_tile;

/* The taps of a window that lie inside of the box, and its first element there. */
typedef struct {
    const float *x;
    int plane, line, first_row, rows, first_column, columns;
} ${f.name}_place;

/* Sums of ${lanes} results over one window, and an upper bound of its sizes over 2^${k.line.share}. */
static uint32_t ${f.name}_sums(const ${f.name}_place *at, uint32_t top, ${", ".join(f"const int32_t *w{n}, int64_t *sum{n}" for n in range(lanes))})
{
% if k.kernel != (1, 1):
    const int from_tap = ${times("at->first_row", k.kernel[1])} + at->first_column;
% endif
    const int rows = at->rows, columns = at->columns;
    uint32_t sizes = ${2 * length};
    int64_t ${", ".join(f"s{n} = 0" for n in range(lanes))};
% if k.kernel == (1, 1):
    const float *from = at->x;
    const int plane = at->plane;
    for (int tap = 0; tap < (rows > 0 && columns > 0 ? ${length} : 0); tap++) {
${step("tap", "plane")}\
    }
% else:
    for (int c = 0; c < ${k.depth}; c++) {
        for (int i = 0; i < rows; i++) {
            const float *from = at->x + c * at->plane + i * at->line;
            const int first = ${times("c", k.kernel[0] * k.kernel[1])} + ${times("i", k.kernel[1])} + from_tap;
            for (int tap = first; tap < first + columns; tap++) {
${step("tap", k.dilations[1])}\
            }
        }
    }
% endif
% for n in range(lanes):
    *sum${n} = s${n};
% endfor
    return sizes;
}

/* The sum of one result where it was not known: with whole numbers as long as that may do, else with floats. */
static float ${f.name}_again(const ${f.name}_place *at, const float *w, const int32_t *numbers, uint32_t top, uint32_t own, int64_t sum, uint64_t needed)
{
    const int ordinary = tilewright_whole_ordinary(top, own, ${k.line.bits}), finite = tilewright_whole_finite(top, own);
    uint64_t seen = 0;
    float exact = 0.0f;
    for (int pass = ordinary ? 0 : 1; pass < 2; pass++) {
        for (int c = 0; c < ${k.depth}; c++) {
            for (int i = 0; i < at->rows; i++) {
                const int tap = ${times(f"({times('c', k.kernel[0])} + at->first_row + i)", k.kernel[1])} + at->first_column;
                const float *const from = at->x + c * at->plane + i * at->line;
                if (pass == 1) {
                    exact = tilewright_whole_exact(exact, from, ${k.dilations[1]}, w + tap, 1, at->columns, finite);
                }
                for (int j = 0; pass == 0 && j < at->columns; j++) {
                    const uint32_t right = numbers[tap + j] < 0 ? 0u - (uint32_t)numbers[tap + j] : (uint32_t)numbers[tap + j];
                    seen += (uint64_t)tilewright_whole_size(tilewright_whole_bits(from + ${times("j", k.dilations[1])}), top, ${k.line.bits}) * right;
                }
            }
            if (pass == 0 && seen >= needed) {
                return tilewright_whole_real(sum, (int)top + (int)own - ${252 + 2 * k.line.bits});
            }
        }
    }
    return exact;
}

/* Weights become whole numbers; then pixels are shared among the cores, ${lanes} channels of one at once. */
TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    int32_t *const numbers = (int32_t *)(void *)scratch;
    const int all = tile->groups * tile->channels, plane = tile->rows * tile->columns, in_plane = tile->in_rows * tile->in_columns;
    tilewright_whole_line *const lines = (tilewright_whole_line *)(void *)(numbers + ${times("all", length)});
    if (phase == 0) {
        for (int lane = core; lane < all; lane += cores) {
            lines[lane] = tilewright_whole_line_of(numbers + ${times("lane", length)}, w + ${times("lane", length)}, ${length}, 1, ${k.line.bits}, ${k.line.share});
        }
    } else {
        const int total = tile->images * tile->groups * plane, end = tilewright_share(total, core + 1, cores);
        int unit = tilewright_share(total, core, cores);
        int column = unit % tile->columns, row = unit / tile->columns % tile->rows, group = unit / plane;
        for (; unit < end; unit++) {
            const int top_row = ${times("row", k.strides[0])} - tile->top, left = ${times("column", k.strides[1])} - tile->left;
            const int skipped = top_row < 0 ? ${over(k.dilations[0], "top_row")} : 0;
            const int beside = left < 0 ? ${over(k.dilations[1], "left")} : 0;
            const int met = top_row < tile->in_rows ? (tile->in_rows - 1 - top_row) / ${k.dilations[0]} + 1 : 0;
            const int wide = left < tile->in_columns ? (tile->in_columns - 1 - left) / ${k.dilations[1]} + 1 : 0;
            const int last_row = met < ${k.kernel[0]} ? met : ${k.kernel[0]}, last_column = wide < ${k.kernel[1]} ? wide : ${k.kernel[1]};
            const ${f.name}_place at = {
                x + ${times("group", k.depth)} * in_plane + (top_row + ${times("skipped", k.dilations[0])}) * tile->in_columns + left + ${times("beside", k.dilations[1])},
                in_plane, ${times("tile->in_columns", k.dilations[0])}, skipped, last_row > skipped ? last_row - skipped : 0, beside,
                last_column > beside ? last_column - beside : 0};
            const int first = group % tile->groups * tile->channels;
            float *const to = y + group * tile->channels * plane + row * tile->columns + column;
            uint32_t top = 0;
% if k.kernel == (1, 1):
            if (at.rows > 0 && at.columns > 0) {
                top = tilewright_whole_top(0u, at.x, ${k.depth}, in_plane);
            }
% else:
            for (int c = 0; c < ${k.depth}; c++) {
                for (int i = 0; i < at.rows; i++) {
                    top = tilewright_whole_top(top, at.x + c * at.plane + i * at.line, at.columns, ${k.dilations[1]});
                }
            }
% endif
            for (int lane = 0; lane < tile->channels; lane += ${lanes}) {
% for n in range(lanes):
                const int lane${n} = first + ${"lane" if n == 0 else f"(lane + {n} < tile->channels ? lane + {n} : {last})"};
                int64_t sum${n} = 0;
% endfor
                const uint32_t sizes = ${f.name}_sums(&at, top, ${", ".join(f"numbers + {times(f'lane{n}', length)}, &sum{n}" for n in range(lanes))});
% for n in range(lanes):
                {
                    const uint64_t needed = (uint64_t)(sizes + lines[lane${n}].sizes) << ${k.line.share + 20}, size = sum${n} < 0 ? (uint64_t)0 - (uint64_t)sum${n} : (uint64_t)sum${n};
                    float v;
                    if (size >= needed && tilewright_whole_ordinary(top, lines[lane${n}].top, ${k.line.bits})) {
                        v = tilewright_whole_biased(sum${n}, (int)top + (int)lines[lane${n}].top - ${252 + 2 * k.line.bits}, ${f"b + lane{n}" if k.bias else "NULL"});
                    } else {
                        v = ${f.name}_again(&at, w + ${times(f"lane{n}", length)}, numbers + ${times(f"lane{n}", length)}, top, lines[lane${n}].top, sum${n}, needed)${f" + b[lane{n}]" if k.bias else ""};
                    }
                    to[(lane${n} - first) * plane] = ${k.clamp};
                }
% endfor
            }
            if (++column == tile->columns) {
                column = 0;
                if (++row == tile->rows) {
                    row = 0;
                    group++;
                }
            }
        }
    }
}
