<%namespace name="planes" file="/plane_blocks.c.mako"/>\
<%namespace name="slopes" file="/slope_blocks.c.mako"/>\
/* One tile, dense, channels first: ${"pixels, which have no rows," if k.even else "rows"} of the operand, and of each product the rows of its gradient and how many lie
 * above those that the first row meets. The first tile begins the sums of slopes, the last one moves the weights. Cores
 * take a row in so many parts. */
typedef struct {
    int images, groups, channels, rows, columns, parts, first, last;
% for t in k.terms:
    int ${", ".join(f"{name}{t.number}" for name in ("results", "rows", "columns", "top"))}${"".join(f", middle{t.number}_{b.row.first}" for b in t.phases if not b.even)}${"" if t.by_line else f", met{t.number}"};
% endfor
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
% for b in t.phases:
<% name = f"{f.name}_back{t.number}_{b.row.first}" %>\
${planes.blocks(name, b, begin, end, beside)}
% endfor
/* What the ${"product" if len(k.terms) == 1 else f"product {t.number}"} adds to a part of a row of the gradient. */
static void ${f.name}_back${t.number}(const ${f.name}_tile *tile, const float *w, const float *dy, tilewright_plane_row *line, int row, int part, int lanes)
{
% if k.even:
    (void)row;
    line->w = w, line->x = dy, line->rows = 1;
% else:
    const int down = row + tile->top${t.number};
% if t.stride == t.dilation == 1:
    const int from = down < tile->rows${t.number} ? 0 : down - tile->rows${t.number} + 1;
    const int rows = (down < ${t.rows - 1} ? down : ${t.rows - 1}) - from + 1;
% else:
    int from = 0, rows = 0;
    while (from < ${t.rows} && ((down - ${times("from", t.dilation)}) % ${t.stride} != 0 || (down - ${times("from", t.dilation)}) / ${t.stride} >= tile->rows${t.number})) {
        from++;
    }
    for (int at = from; at < ${t.rows} && down >= ${times("at", t.dilation)}; at += ${t.row_taps}) {
        rows++;
    }
% endif
    line->rows = rows > 0 ? rows : 0;
    line->w = w + ${times("from", t.window_columns)};
    line->x = rows > 0 ? dy + (down - ${times("from", t.dilation)}) / ${t.stride} * tile->columns${t.number} : dy;
% endif
    line->planes = tile->results${t.number};
    line->w_row = ${t.row_taps * t.window_columns};
    line->w_plane = ${times("tile->channels", t.window)};
    line->x_row = -${times(f"tile->columns{t.number}", t.row_step)};
    line->x_plane = tile->rows${t.number} * tile->columns${t.number};
% if t.by_rows:
    line->w_next = line->w_plane - line->rows * line->w_row;
    line->x_next = line->x_plane - line->rows * line->x_row;
% else:
    line->w_next = line->w_row - line->planes * line->w_plane;
    line->x_next = line->x_row - line->planes * line->x_plane;
% endif
% for b in t.phases:
<%
name = f"{f.name}_back{t.number}_{b.row.first}"
whole = "line->results" if b.even else plus("line->middle", b.fixed)
bound = (lambda at: f"tilewright_share((line->results + 3) / 4, {at}, tile->parts) * 4") if b.even else (lambda at: f"tilewright_share({whole}, {at}, tile->parts)")
%>\
    {
% if b.row.first:
        line->y++${", line->mask++" if k.masked else ""}${", line->add++" if k.add else ""};
% endif
% if t.phases_differ:
        line->results = (tile->columns - ${b.row.first} + ${b.row.apart - 1}) / ${b.row.apart};
% else:
        line->results = tile->columns;
% endif
% if not b.even:
        line->middle = tile->middle${t.number}_${b.row.first};
% endif
        const int first = ${bound("part")};
        const int end = part + 1 < tile->parts ? ${bound("part + 1")} : ${whole};
% if len(b.lanes) > 1:
        if (lanes < ${b.lanes[0]}) {
            ${name}_${b.lanes[1]}_row(line, first, end);
        } else {
            ${name}_${b.lanes[0]}_row(line, first, end);
        }
% else:
        ${name}_${b.lanes[0]}_row(line, first, end);
% endif
    }
% endfor
% if len(t.phases) > 1:
    line->y -= ${len(t.phases) - 1}${f", line->mask -= {len(t.phases) - 1}" if k.masked else ""}${f", line->add -= {len(t.phases) - 1}" if k.add else ""};
% endif
% if len(k.lanes) == 1:
    (void)lanes;
% endif
}

% endfor
/* The gradient of the operand: ${"" if k.rows_at_once == 1 else f"{k.rows_at_once} "}rows of ${"a channel" if k.lanes[0] == 1 else f"{k.lanes[0]} channels"} are shared among the cores, part by part. */
static void ${f.name}_back(${k.back_parameters}, const ${f.name}_tile *tile, int core, int cores)
{
    const int blocks = ${"tile->channels" if k.lanes[0] == 1 else f"(tile->channels + {k.lanes[0] - 1}) / {k.lanes[0]}"}, bands = (tile->rows + ${k.rows_at_once - 1}) / ${k.rows_at_once};
    const int plane = tile->rows * tile->columns, total = tile->images * tile->groups * blocks * bands * tile->parts;
    const int end = tilewright_share(total, core + 1, cores);
    for (int unit = tilewright_share(total, core, cores); unit < end; unit++) {
        const int part = unit % tile->parts, band = unit / tile->parts % bands, block = unit / tile->parts / bands;
        const int group = block / blocks, channel = ${times("(block % blocks)", k.lanes[0])}; /* groups of all images */
        const int lanes = tile->channels - channel < ${k.lanes[0]} ? tile->channels - channel : ${k.lanes[0]};
        for (int row = ${times("band", k.rows_at_once)}; row < ${plus(times("band", k.rows_at_once), k.rows_at_once)} && row < tile->rows; row++) {
            const int place = (group * tile->channels + channel) * plane + row * tile->columns;
            tilewright_plane_row line = {NULL, NULL, dx + place, 0, 0, ${k.terms[0].window}, 0, 0, 0, 0, 0, 0, plane, 0, 0, NULL, ${"add + place" if k.add else "NULL"}, ${"x + place" if k.masked else "NULL"}};
% for t in k.terms:
<% across = f"tile->results{t.number} * tile->rows{t.number} * tile->columns{t.number}" %>\
% if t.number:
            line.w_lane = ${t.window};
% endif
            ${f.name}_back${t.number}(tile, ${t.weights} + (group % tile->groups * tile->results${t.number} * tile->channels + channel) * ${t.window}, ${t.gradient} + group * ${across}, &line, row, part, lanes);
% endfor
        }
    }
}

% endif
% for t in k.terms:
% if t.number == k.first_of[t.number]:
% for number, of in enumerate(t.slopes):
% if t.by_line:
${slopes.line(f"{f.name}_slopes{t.number}_{number}", of, t.window, k.rate, k.decayed)}\
% else:
${slopes.windowed(f"{f.name}_slopes{t.number}_{number}", of, t.window, k.rate, k.decayed)}\
% endif
% endfor
% endif
/* Weights by blocks of ${"a result" if t.lanes == 1 else f"{t.lanes} results"} and ${t.together} ${"channel" if t.together == 1 else "channels"}, ${"tap by tap" if t.by_line else "rows of the window one by one"}: cores take them from the last to the first,
 * as those that have fewer rows above have more here. */
static void ${f.name}_slopes${t.number}(const float *x, ${t.slope_parameters}, const ${f.name}_tile *tile, int core, int cores)
{
    const int blocks = ${"tile->channels" if t.together == 1 else f"(tile->channels + {t.together - 1}) / {t.together}"}, result_blocks = ${f"tile->results{t.number}" if t.lanes == 1 else f"(tile->results{t.number} + {t.lanes - 1}) / {t.lanes}"};
    const int total = tile->groups * result_blocks * blocks * ${t.units}, end = tilewright_share(total, cores - core, cores);
    const int plane = tile->rows * tile->columns, y_plane = tile->rows${t.number} * tile->columns${t.number};
    const int lane = ${times("tile->channels", t.window)};
    int unit = tilewright_share(total, cores - 1 - core, cores), tap = unit % ${t.units};
    for (int block = unit / ${t.units}; unit < end; block++) {
        const int group = block / blocks / result_blocks, result = ${times("(block / blocks % result_blocks)", t.lanes)};
        const int channel = ${times("(block % blocks)", t.together)}, last = tile->results${t.number} - result - 1;
        const int place = (group * tile->results${t.number} + result) * lane + ${times("channel", t.window)};
        const float *const y = ${t.gradient} + (group * tile->results${t.number} + result) * y_plane;
        const float *const from = x + (group * tile->channels + channel) * plane;
        tilewright_slopes of = {
            y, from, NULL, NULL, tile->images, 1, y_plane, ${"0" if t.by_line else f"tile->met{t.number}"},
            {0, last > 0 ? y_plane : 0, last > 1 ? 2 * y_plane : 0, last > 2 ? 3 * y_plane : 0},
            {0, last > 0 ? lane : 0, last > 1 ? 2 * lane : 0, last > 2 ? 3 * lane : 0},
            tile->columns${t.number}, tile->groups * tile->results${t.number} * y_plane, plane, ${times("tile->columns", t.stride)}, tile->groups * tile->channels * plane,
            ${t.window}, tile->first, tile->last};
% if t.together == 2 and not t.by_line:
        if (channel + 1 == tile->channels) {
            of.x_plane = 0;
            of.w_channel = 0;
        }
% endif
        for (; tap < ${t.units} && unit < end; tap++, unit++) {
% if not k.even:
            const int start = ${times("tap", t.dilation)} - tile->top${t.number};
            const int low = start < 0 ? (${t.stride - 1} - start) / ${t.stride} : 0;
            const int met = start < tile->rows ? (tile->rows - 1 - start) / ${t.stride} + 1 : 0;
            const int rows = (met < tile->rows${t.number} ? met : tile->rows${t.number}) - low;
            of.rows = rows > 0 ? rows : 0;
% if t.by_line:
            of.columns = tile->columns${t.number} - ${t.line[2]};
            of.rows = of.columns > 0 ? of.rows : 0;
            of.y = y + low * tile->columns${t.number} + ${t.line[0]};
            of.x = from + (${times("low", t.stride)} + start) * tile->columns + ${t.line[1]};
% if t.stride == 1 and t.line == (0, 0, 0):
            if (of.columns == tile->columns && of.rows > 0) { /* rows follow each other without a gap */
                of.columns *= of.rows;
                of.rows = 1;
            }
% endif
% else:
            of.y = y + low * tile->columns${t.number};
            of.x = from + (${times("low", t.stride)} + start) * tile->columns;
% endif
% endif
% if t.by_line:
            of.target = ${t.target} + place + tap;
            of.next = ${t.following} + place + tap;
% if len(t.slopes) > 1:
            if (tile->channels - channel >= 4) {
                ${f.name}_slopes${k.first_of[t.number]}_0(&of);
            } else {
                ${f.name}_slopes${k.first_of[t.number]}_1(&of);
            }
% else:
            ${f.name}_slopes${k.first_of[t.number]}_0(&of);
% endif
% else:
% for number, part in enumerate(t.slopes):
            of.target = ${t.target} + place + ${plus(times("tap", t.window_columns), part.first)};
            of.next = ${t.following} + place + ${plus(times("tap", t.window_columns), part.first)};
            ${f.name}_slopes${k.first_of[t.number]}_${number}(&of);
% endfor
% endif
        }
        tap = 0;
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
