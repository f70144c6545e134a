<%namespace name="planes" file="/plane_blocks.c.mako"/>\
<%
b = k.blocks
def begin(lane, y, at):
    return f"row->start[{lane}]" if k.bias else "0.0f"
def end(lane, sum, at):
    return k.limited(sum)
%>\
/* One tile, dense, channels first: results, the box of operands, and the rows of padding before it. ${"Rows have no edges and are one." if b.even else "A row has `middle` blocks between its edges."}
 * A core takes ${"so many results" if b.even else "so many blocks"} of a row at once. */
typedef struct {
    int images, groups, channels, depth, rows, columns, in_rows, in_columns, top, middle, part;
} ${f.name}_tile;

${planes.blocks(f.name, b, begin, end)}
/* Rows of ${"a channel" if b.lanes[0] == 1 else f"{b.lanes[0]} channels"} are shared among the cores, part by part. */
static void ${f.name}(${f.parameters})
{
    const int blocks = ${"tile->channels" if b.lanes[0] == 1 else f"(tile->channels + {b.lanes[0] - 1}) / {b.lanes[0]}"}, whole = ${"tile->columns" if b.even else plus("tile->middle", b.fixed)};
    const int parts = (whole + tile->part - 1) / tile->part, lane = ${times("tile->depth", b.weights.plane)};
    const int plane = tile->rows * tile->columns, in_plane = tile->in_rows * tile->in_columns;
    const int total = tile->images * tile->groups * blocks * tile->rows * parts;
    const int end = tilewright_share(total, core + 1, cores);
    int unit = tilewright_share(total, core, cores);
    int part = unit % parts, row = unit / parts % tile->rows, block = unit / parts / tile->rows;
    for (; unit < end; unit++) {
        const int group = block / blocks, first = group * tile->channels + ${times("block % blocks", b.lanes[0])}; /* of all images */
        const int channel = first % (tile->groups * tile->channels);
% if len(b.lanes) > 1:
        const int left = (group + 1) * tile->channels - first;
% endif
        const int next = part + 1 < parts ? (part + 1) * tile->part : whole, top = ${times("row", k.stride)} - tile->top;
% if k.dilation > 1:
        const int skipped = top < 0 ? (${k.dilation - 1} - top) / ${k.dilation} : 0; /* rows of the window before the first */
        const int met = top < tile->in_rows ? (tile->in_rows - 1 - top) / ${k.dilation} + 1 : 0;
% else:
        const int skipped = top < 0 ? -top : 0; /* rows of the window before the first */
        const int met = tile->in_rows - top;
% endif
        tilewright_plane_row line = {
            w + channel * lane + ${times("skipped", k.w_row)},
            x + group * tile->depth * in_plane + (top + ${times("skipped", k.dilation)}) * tile->in_columns,
            y + first * plane + row * tile->columns, (met < ${k.rows} ? met : ${k.rows}) - skipped, tile->depth, lane,
            ${k.w_row}, ${b.weights.plane}, 0, ${times("tile->in_columns", k.dilation)}, in_plane, 0, plane, tile->middle, tile->columns, ${"b + channel" if k.bias else "NULL"}, NULL, NULL};
% if b.by_rows:
        line.x_next = line.x_plane - line.rows * line.x_row;
        line.w_next = line.w_plane - line.rows * line.w_row;
% else:
        line.x_next = line.x_row - line.planes * line.x_plane;
        line.w_next = line.w_row - line.planes * line.w_plane;
% endif
% if len(b.lanes) > 1:
        if (left < ${b.lanes[0]}) {
            ${f.name}_${b.lanes[1]}_row(&line, part * tile->part, next);
        } else {
            ${f.name}_${b.lanes[0]}_row(&line, part * tile->part, next);
        }
% else:
        ${f.name}_${b.lanes[0]}_row(&line, part * tile->part, next);
% endif
        if (++part == parts) {
            part = 0;
            if (++row == tile->rows) {
                row = 0;
                block++;
            }
        }
    }
}
