<%namespace name="halves" file="/whole_halves.c.mako"/>\
<%
h = k.halves
depth, words = h.length, h.words
%>\
${halves.sums(f, h)}
/* A line of floats as numbers. */
TILEWRIGHT_HALVES_APART tilewright_halves_line ${f.name}_line(uint32_t *to, const float *from, int step)
{
% if h.part_words * 4 > 2 * h.pairs:
    to[${words - 1}] = 0;
% endif
% if depth % 2:
    to[${depth}] = 0;
% endif
    return tilewright_halves_of(to, ${h.pairs}, tilewright_halves_copied(to, from, ${depth}, step, 0));
}

/* Columns, then rows, become whole numbers; then the cores share the sums, four columns of a row at once. */
TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    uint32_t *const numbers = (uint32_t *)(void *)scratch;
    const int columns = tile->columns, rows = tile->matrices * tile->rows, upright = ${"(tile->right != 0 ? tile->matrices : 1) * columns" if k.across else "columns"};
    uint32_t *const of_rows = numbers + ${times("upright", words)};
    tilewright_halves_line *const lines = (tilewright_halves_line *)(void *)(of_rows + ${times("rows", words)}), *const row_lines = lines + upright;
    if (phase == 0) {
        for (int lane = core; lane < upright; lane += cores) {
% if k.across:
            const int matrix = lane / columns;
            lines[lane] = ${f.name}_line(numbers + ${times("lane", words)}, ${k.right} + matrix * tile->right + (lane - matrix * columns), columns);
% else:
            lines[lane] = ${f.name}_line(numbers + ${times("lane", words)}, ${k.right} + ${times("lane", depth)}, 1);
% endif
        }
        for (int row = core; row < rows; row += cores) {
            row_lines[row] = ${f.name}_line(of_rows + ${times("row", words)}, a + ${times("row", depth)}, 1);
        }
    } else {
        const int fours = (columns + 3) / 4, end = tilewright_share(rows * fours, core + 1, cores);
        int at = tilewright_share(rows * fours, core, cores), row = at / fours, n = (at - row * fours) * 4;
        while (at < end) {
            const int together = end - at < 4 ? end - at : 4, last = columns - 1;
            const int stop = n + 4 * together < columns ? n + 4 * together : columns;
% if k.across:
            const int matrix = tile->right != 0 ? row / tile->rows : 0, before = matrix * columns;
            const uint32_t *const of_columns = numbers + ${times("before", words)};
            const tilewright_halves_line *const column_lines = lines + before;
% else:
            const uint32_t *const of_columns = numbers;
            const tilewright_halves_line *const column_lines = lines;
% endif
            const uint32_t *const own = of_rows + ${times("row", words)};
            const tilewright_halves_line line = row_lines[row];
            int64_t sums[16];
            for (int i = n; i < stop; i += 4) {
                const int place = i - n, two = i + 1 < columns ? i + 1 : last, three = i + 2 < columns ? i + 2 : last, four = i + 3 < columns ? i + 3 : last;
                ${f.name}_sums(own, of_columns + ${times("i", words)}, of_columns + ${times("two", words)}, of_columns + ${times("three", words)}, of_columns + ${times("four", words)}, sums + place);
            }
            for (int i = n; i < stop; i++) {
                const uint32_t *const column = of_columns + ${times("i", words)};
                const uint32_t top = column_lines[i].top, off = tilewright_halves_off(line.sizes, column_lines[i].sizes, ${depth});
                const int64_t sum = sums[i - n];
                float v;
                if (tilewright_whole_ordinary(line.top, top, 27u) &&
                    (tilewright_halves_known(sum, off, ${h.margin}u) || ${f.name}_seen(own + ${2 * h.pairs}, column + ${2 * h.pairs}, off))) {
                    v = tilewright_halves_real(sum, (int)line.top + (int)top - 278, ${"bias + i" if k.bias else "NULL"});
                } else {
                    const int finite = tilewright_whole_finite(line.top, top);
% if k.across:
                    v = tilewright_whole_exact(0.0f, a + ${times("row", depth)}, 1, ${k.right} + matrix * tile->right + i, columns, ${depth}, finite);
% else:
                    v = tilewright_whole_exact(0.0f, a + ${times("row", depth)}, 1, ${k.right} + ${times("i", depth)}, 1, ${depth}, finite);
% endif
% if k.bias:
                    v += bias[i];
% endif
                }
                y[row * columns + i] = ${k.clamp};
            }
            at += (stop - n + 3) / 4;
            n = stop;
            if (n == columns) {
                n = 0;
                row++;
            }
        }
    }
}
