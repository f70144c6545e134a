<%namespace name="planes" file="/plane_blocks.c.mako"/>\
<%namespace name="slopes" file="/slope_blocks.c.mako"/>\
/* One tile, dense, channels first: ${"pixels, which have no rows" if k.even else "rows"} of the operand, and of each product the rows of its gradient and how many lie
 * above those that the first row meets. The first tile begins the sums of slopes, the last one moves the weights. */
typedef struct {
    int images, groups, channels, rows, columns, part, first, last;
    int ${", ".join(f"rows{t.number}, top{t.number}" for t in k.terms)};
} ${f.name}_tile;

% if k.back:
% for t in k.terms:
<%
opens, closes = t.number == 0, t.number + 1 == len(k.terms)
def begin(lane, y, at):
    return (f"d{lane}[{at}]" if k.add else "0.0f") if opens else y
def end(lane, sum, at):
    return f"m{lane}[{at}] > 0.0f ? {sum} : 0.0f" if closes and k.masked else sum
beside = [("d", "add")] * (opens and k.add) + [("m", "mask")] * (closes and k.masked)
%>\
% for b, taps in zip(t.phases, t.taps):
<% name = f"{f.name}_back{t.number}_{b.row.first}" %>\
${planes.blocks(name, b, begin, end, beside)}
% if b.single:
/* Some results of a row of fewer than four channels. */
static void ${name}_rest(const tilewright_plane_row *row, int first, int end, int lanes)
{
% if taps:
    static const tilewright_plane_tap taps[${len(taps)}] = {
% for tap in taps:
        {${", ".join(map(str, tap))}},
% endfor
    };
% endif
    tilewright_plane_row one = *row;
    for (int lane = 0; lane < lanes; lane++, one.w += ${t.w_lane}, one.y += one.y_plane) {
        for (int result = first; result < end; result++) {
            const int at = ${times("result", b.row.apart)};
            float v = ${("row->add[lane * row->y_plane + at]" if k.add else "0.0f") if opens else "one.y[at]"};
% if taps:
            v = tilewright_plane_sum(&one, taps, ${len(taps)}, result, result, v);
% endif
            one.y[at] = ${"row->mask[lane * row->y_plane + at] > 0.0f ? v : 0.0f" if closes and k.masked else "v"};
        }
    }
}

% endif
% endfor
% endfor
/* The gradient of the operand: rows of four channels are shared among the cores${", part by part" if k.even else ""}. */
static void ${f.name}_back(${k.back_parameters}, const ${f.name}_tile *tile, int core, int cores)
{
    const int blocks = (tile->channels + 3) / 4, parts = ${"(tile->columns + tile->part - 1) / tile->part" if k.even else "1"};
    const int plane = tile->rows * tile->columns;
    const int total = tile->images * tile->groups * blocks * tile->rows * parts, end = tilewright_share(total, core + 1, cores);
    for (int unit = tilewright_share(total, core, cores); unit < end; unit++) {
        const int row = unit / parts % tile->rows, block = unit / parts / tile->rows, group = block / blocks; /* of all images */
        const int channel = block % blocks * 4, place = (group * tile->channels + channel) * plane + row * tile->columns;
% if k.even:
        const int first = unit % parts * tile->part, last = unit % parts + 1 < parts ? first + tile->part : tile->columns;
% endif
% if k.rest:
        const int lanes = tile->channels - channel < 4 ? tile->channels - channel : 4;
% endif
        tilewright_plane_row line = {NULL, NULL, dx + place, 0, 0, 0, 0, 0, 0, 0, 0, plane, NULL, ${"add + place" if k.add else "NULL"}, ${"x + place" if k.masked else "NULL"}};
% for t in k.terms:
        {
            const float *const w = ${t.weights} + (group % tile->groups * ${t.results} * tile->channels + channel) * ${t.w_lane};
            const float *const dy = ${t.gradient} + group * ${t.results} * tile->rows${t.number} * ${"tile->columns" if k.even else t.columns};
% if k.even:
            line.w = w, line.x = dy, line.rows = 1;
% else:
            const int down = row + tile->top${t.number};
            int from = 0, rows = 0;
% if t.stride == t.dilation == 1:
            from = down < tile->rows${t.number} ? 0 : down - tile->rows${t.number} + 1;
            rows = (down < ${t.rows - 1} ? down : ${t.rows - 1}) - from + 1;
% else:
            while (from < ${t.rows} && ((down - ${times("from", t.dilation)}) % ${t.stride} != 0 || (down - ${times("from", t.dilation)}) / ${t.stride} >= tile->rows${t.number})) {
                from++;
            }
            for (int at = from; at < ${t.rows} && down >= ${times("at", t.dilation)}; at += ${t.row_taps}) {
                rows++;
            }
% endif
            line.rows = rows > 0 ? rows : 0;
            line.w = w + ${times("from", t.window_columns)};
            line.x = rows > 0 ? dy + (down - ${times("from", t.dilation)}) / ${t.stride} * ${t.columns} : dy;
% endif
            line.planes = ${t.results};
            line.w_row = ${t.row_taps * t.window_columns};
            line.w_plane = ${times("tile->channels", t.w_lane)};
            line.x_row = ${-t.row_step * t.columns};
            line.x_plane = tile->rows${t.number} * ${"tile->columns" if k.even else t.columns};
% if t.by_rows:
            line.w_next = line.w_plane - line.rows * line.w_row;
            line.x_next = line.x_plane - line.rows * line.x_row;
% else:
            line.w_next = line.w_row - line.planes * line.w_plane;
            line.x_next = line.x_row - line.planes * line.x_plane;
% endif
% for b in t.phases:
<%
name = f"{f.name}_back{t.number}_{b.row.first}"
blocks = "first, last" if k.even else f"0, {b.row.count if b.even else b.count}"
moved = f"line.y += {b.row.first}" + (f", line.mask += {b.row.first}" if k.masked else "") + (f", line.add += {b.row.first}" if k.add else "")
%>\
% if b.row.first:
            line.y++${", line.mask++" if k.masked else ""}${", line.add++" if k.add else ""};
% endif
% if b.single:
            if (lanes < 4) {
                ${name}_rest(&line, ${"first, last" if k.even else f"0, {b.row.count}"}, lanes);
            } else {
                ${name}_row(&line, ${blocks});
            }
% else:
            ${name}_row(&line, ${blocks});
% endif
% endfor
% if len(t.phases) > 1:
            line.y -= ${len(t.phases) - 1}${f", line.mask -= {len(t.phases) - 1}" if k.masked else ""}${f", line.add -= {len(t.phases) - 1}" if k.add else ""};
% endif
        }
% endfor
    }
}

% endif
% for t in k.terms:
% if t.number == k.first_of[t.number]:
${slopes.sums(f"{f.name}_slopes{t.number}", t.slopes)}
% endif
/* Weights by blocks of four results and four channels, tap by tap: cores take them from the last to the first, as those that
 * have fewer rows above have more here. */
static void ${f.name}_slopes${t.number}(const float *x, ${t.slope_parameters}, const ${f.name}_tile *tile, int core, int cores)
{
% if not k.even:
    static const int columns[${t.window_columns}][3] = { /* the first of the gradient, of the operand, and how many meet */
% for one in t.columns_met:
        {${", ".join(map(str, one))}},
% endfor
    };
% endif
    const int blocks = (tile->channels + 3) / 4, total = tile->groups * ${t.result_blocks} * blocks * ${t.window};
    const int end = tilewright_share(total, cores - core, cores), plane = tile->rows * tile->columns;
    const int slope_plane = tile->rows${t.number} * ${"tile->columns" if k.even else t.columns};
    for (int unit = tilewright_share(total, cores - 1 - core, cores); unit < end; unit++) {
        const int tap = unit % ${t.window}, block = unit / ${t.window}, channel = block % blocks * 4;
        const int group = block / blocks / ${t.result_blocks}, result = block / blocks % ${t.result_blocks} * 4;
        const int results = ${t.results} - result < 4 ? ${t.results} - result : 4;
        const int channels = tile->channels - channel < 4 ? tile->channels - channel : 4;
        const int place = ((group * ${t.results} + result) * tile->channels + channel) * ${t.window} + tap;
        float sums[16];
% if k.even:
        const int y_start = 0, x_start = 0, rows = 1, met = tile->columns;
% else:
        const int *const column = columns[tap % ${t.window_columns}];
        const int start = ${times(f"(tap / {t.window_columns})", t.dilation)} - tile->top${t.number};
        const int low = start < 0 ? (${t.stride - 1} - start) / ${t.stride} : 0;
        const int high = start < tile->rows ? (tile->rows - 1 - start) / ${t.stride} + 1 : 0;
        const int y_start = low * ${t.columns} + column[0], x_start = (low * ${t.stride} + start) * ${k.columns} + column[1];
        const int rows = (high < tile->rows${t.number} ? high : tile->rows${t.number}) - low, met = column[2];
% endif
        tilewright_slopes of = {
            ${t.gradient} + (group * ${t.results} + result) * slope_plane + y_start, x + (group * tile->channels + channel) * plane + x_start,
            tile->images, rows > 0 && met > 0 ? rows : 0, met,
            {0, results > 1 ? slope_plane : 0, results > 2 ? 2 * slope_plane : 0, results > 3 ? 3 * slope_plane : 0},
            ${"met" if k.even else t.columns}, tile->groups * ${t.results} * slope_plane, plane, ${"met" if k.even else t.stride * k.columns}, tile->groups * tile->channels * plane};
% if not k.even and t.stride == 1 and t.columns == k.columns:
        if (met == ${t.columns}) { /* rows follow each other without a gap */
            of.columns *= of.rows;
            of.rows = of.rows > 0;
        }
% endif
% for block in t.slopes:
        ${"} else " if not loop.first else ""}${f"if (channels == {block.width}) " if not loop.last else ""}{
            ${f.name}_slopes${k.first_of[t.number]}_sums${block.width}(&of, sums);
% endfor
        }
        for (int i = 0; i < results; i++) {
            for (int j = 0; j < channels; j++) {
                const int at = place + (i * tile->channels + j) * ${t.window};
                const float slope = tile->first ? sums[4 * i + j] : ${t.following}[at] + sums[4 * i + j];
                ${t.following}[at] = tile->last ? TILEWRIGHT_ADD_PRODUCT(${k.rate}, slope, ${k.decayed(t.target + "[at]")}) : slope;
            }
        }
    }
}

% endfor
/* Each core takes its share of the gradient of the operand and of the weights: both are made of what no core writes. */
static void ${f.name}(${f.parameters})
{
% if k.back:
    ${f.name}_back(${k.back_arguments}, tile, core, cores);
% endif
% for t in k.terms:
    ${f.name}_slopes${t.number}(x, ${t.slope_arguments}, tile, core, cores);
% endfor
}
