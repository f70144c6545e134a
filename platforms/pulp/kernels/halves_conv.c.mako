<%namespace name="halves" file="/whole_halves.c.mako"/>\
<%
h = k.halves
lanes, length, words = h.lanes, h.length, h.words
def over(dilation, begin):
    return f"-{begin}" if dilation == 1 else f"({dilation - 1} - {begin}) / {dilation}"
last = "tile->channels - 1"
point = k.kernel == (1, 1)
whole = "at.rows > 0 && at.columns > 0" if point else f"at.rows == {k.kernel[0]} && at.columns == {k.kernel[1]}"
%>\
/* One tile, dense, channels first: results, the box of operands, and the rows and columns of padding before it. */
typedef struct {
    int images, groups, channels, rows, columns, in_rows, in_columns, top, left;
} ${f.name}_tile;

/* The taps of a window that lie inside of the box, and its first element there. */
typedef struct {
    const float *x;
    int plane, line, first_row, rows, first_column, columns;
} ${f.name}_place;

${halves.sums(f, h)}
/* A window as it comes, and the largest size in it. */
TILEWRIGHT_HALVES_APART int32_t ${f.name}_window(const ${f.name}_place *place, uint32_t *to)
{
    const ${f.name}_place at = *place;
    int32_t largest = 0;
    if (!(${whole})) {
        (void)memset(to, 0, ${8 * h.pairs});
    }
% if length % 2:
    to[${length}] = 0;
% endif
% if point:
    if (${whole}) {
        largest = tilewright_halves_copied(to, at.x, ${length}, at.plane, 0);
    }
% else:
    for (int c = 0; c < ${k.depth}; c++) {
        for (int i = 0; i < at.rows; i++) {
            const float *const from = at.x + c * at.plane + i * at.line;
            uint32_t *const into = to + ${times(f"({times('c', k.kernel[0])} + at.first_row + i)", k.kernel[1])} + at.first_column;
            if (at.columns == ${k.kernel[1]}) {
                largest = tilewright_halves_copied(into, from, ${k.kernel[1]}, ${k.dilations[1]}, largest);
            } else {
                largest = tilewright_halves_copied(into, from, at.columns, ${k.dilations[1]}, largest);
            }
        }
    }
% endif
    return largest;
}

/* A sum that whole numbers do not know, of floats. */
TILEWRIGHT_HALVES_APART float ${f.name}_exact(const ${f.name}_place *at, const float *w, int finite)
{
    float exact = 0.0f;
    for (int c = 0; c < ${k.depth}; c++) {
        for (int i = 0; i < at->rows; i++) {
            const int tap = ${times(f"({times('c', k.kernel[0])} + at->first_row + i)", k.kernel[1])} + at->first_column;
            exact = tilewright_whole_exact(exact, at->x + c * at->plane + i * at->line, ${k.dilations[1]}, w + tap, 1, at->columns, finite);
        }
    }
    return exact;
}

/* Weights become whole numbers; then pixels are shared among the cores: each makes numbers of a window, for all channels. */
TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    const int all = tile->groups * tile->channels, plane = tile->rows * tile->columns, in_plane = tile->in_rows * tile->in_columns;
    const int room = ${"tile->channels" if lanes == 1 else f"(tile->channels + {lanes - 1}) / {lanes} * {lanes}"};
    const int before = core * room, every = cores * room;
    int64_t *const all_sums = (int64_t *)(void *)scratch, *const sums = all_sums + before;
    uint32_t *const numbers = (uint32_t *)(void *)(all_sums + every);
    tilewright_halves_line *const lines = (tilewright_halves_line *)(void *)(numbers + ${times("all", words)});
    if (phase == 0) {
        for (int lane = core; lane < all; lane += cores) {
            uint32_t *const line = numbers + ${times("lane", words)};
% if h.part_words * 4 > 2 * h.pairs:
            line[${words - 1}] = 0;
% endif
% if length % 2:
            line[${length}] = 0;
% endif
            lines[lane] = tilewright_halves_of(line, ${h.pairs}, tilewright_halves_copied(line, w + ${times("lane", length)}, ${length}, 1, 0));
        }
    } else {
        const int total = tile->images * tile->groups * plane, end = tilewright_share(total, core + 1, cores);
        uint32_t *const own = (uint32_t *)(void *)(lines + all) + core * ${words};
        int unit = tilewright_share(total, core, cores);
        int column = unit % tile->columns, row = unit / tile->columns % tile->rows, group = unit / plane;
% if h.part_words * 4 > 2 * h.pairs:
        own[${words - 1}] = 0;
% endif
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
            const tilewright_halves_line window = tilewright_halves_of(own, ${h.pairs}, ${f.name}_window(&at, own));
            for (int lane = 0; lane < tile->channels; lane += ${lanes}) {
% for n in range(1, lanes):
                const int lane${n} = first + (lane + ${n} < tile->channels ? lane + ${n} : ${last});
% endfor
                ${f.name}_sums(own, ${", ".join(["numbers + " + times("(first + lane)", words)] + [f"numbers + {times(f'lane{n}', words)}" for n in range(1, lanes)])}, sums + lane);
            }
            for (int lane = 0; lane < tile->channels; lane++) {
                const int channel = first + lane;
                const tilewright_halves_line line = lines[channel];
                const uint32_t off = tilewright_halves_off(window.sizes, line.sizes, ${length});
                float v;
                if (tilewright_whole_ordinary(window.top, line.top, 27u) &&
                    (tilewright_halves_known(sums[lane], off, ${h.margin}u) || ${f.name}_seen(own + ${2 * h.pairs}, numbers + ${times("channel", words)} + ${2 * h.pairs}, off))) {
                    v = tilewright_halves_real(sums[lane], (int)window.top + (int)line.top - 278, ${"b + channel" if k.bias else "NULL"});
                } else {
                    v = ${f.name}_exact(&at, w + ${times("channel", length)}, tilewright_whole_finite(window.top, line.top))${" + b[channel]" if k.bias else ""};
                }
                to[lane * plane] = ${k.clamp};
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
