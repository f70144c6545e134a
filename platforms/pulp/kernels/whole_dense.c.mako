<%
depth, bits, share = k.line.length, k.line.bits, k.line.share
%>\
/* Columns, then rows, become whole numbers; then the cores share the sums. */
TILEWRIGHT_PHASES void ${f.name}(${f.parameters})
{
    int32_t *const numbers = (int32_t *)(void *)scratch;
    const int columns = tile->columns, rows = tile->matrices * tile->rows, upright = ${"(tile->right != 0 ? tile->matrices : 1) * columns" if k.across else "columns"};
    int32_t *const of_rows = numbers + upright * ${depth};
    tilewright_whole_line *const lines = (tilewright_whole_line *)(void *)(of_rows + rows * ${depth}), *const row_lines = lines + upright;
    if (phase == 0) {
        for (int lane = core; lane < upright; lane += cores) {
% if k.across:
            const int matrix = lane / columns;
            lines[lane] = tilewright_whole_line_of(numbers + lane * ${depth}, ${k.right} + matrix * tile->right + (lane - matrix * columns), ${depth}, columns, ${bits}, ${share});
% else:
            lines[lane] = tilewright_whole_line_of(numbers + lane * ${depth}, ${k.right} + lane * ${depth}, ${depth}, 1, ${bits}, ${share});
% endif
        }
        for (int row = core; row < rows; row += cores) {
            row_lines[row] = tilewright_whole_line_of(of_rows + row * ${depth}, a + row * ${depth}, ${depth}, 1, ${bits}, ${share});
        }
    } else {
        const int end = tilewright_share(rows * columns, core + 1, cores);
        int at = tilewright_share(rows * columns, core, cores), row = at / columns, n = at - row * columns;
        for (; at < end; at++) {
% if k.across:
            const int matrix = tile->right != 0 ? row / tile->rows : 0, lane = matrix * columns + n;
% else:
            const int lane = n;
% endif
            float v;
            if (!tilewright_whole_product(&v, of_rows + row * ${depth}, row_lines[row], numbers + lane * ${depth}, lines[lane], ${depth}, ${bits}, ${share}, ${"bias + n" if k.bias else "NULL"})) {
                const int finite = tilewright_whole_finite(row_lines[row].top, lines[lane].top);
% if k.across:
                v = tilewright_whole_exact(0.0f, a + row * ${depth}, 1, ${k.right} + matrix * tile->right + n, columns, ${depth}, finite);
% else:
                v = tilewright_whole_exact(0.0f, a + row * ${depth}, 1, ${k.right} + lane * ${depth}, 1, ${depth}, finite);
% endif
% if k.bias:
                v += bias[n];
% endif
            }
            y[at] = ${k.clamp};
            if (++n == columns) {
                n = 0;
                row++;
            }
        }
    }
}
