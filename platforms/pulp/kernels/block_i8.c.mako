<%namespace name="helpers" file="/block_helpers.c.mako"/>\
<%
p, g, w = k.plan, k.plan.geometry, k.plan.window
q = g.requantise
starts = 4 * g.starts
whole = p.window.flat or p.gathered
widths = sorted({v.channels for v in k.variants}, reverse=True)
G, L, YB = p.width, g.lanes, g.y_bytes
XB = 4 // L
lapped = g.apart and w.channels % G > 0 # the last group of channels lies over the one before
widths += [G] if lapped else []
pixel_bytes = times("channels", XB) if g.apart else g.depth # of a tile in L1
%>\
<%def name="call(width, packed)">
% if packed:
${f.name}_${[v for v in k.packed if v.channels == width][0].name}(&k);
% else:
#ifdef TILEWRIGHT_XPULP
% for v in [v for v in k.variants if v.channels == width]:
            ${"" if loop.first else "} else "}if (pixels == ${v.pixels} && left == ${v.left} && right == ${v.right} && rows > 0) {
                ${f.name}_${v.name}(&k);
% endfor
% if k.covered:
            } else {
                /* without rows there is nothing to add */
            }
#else
            {
% else:
            } else
#endif
            {
% endif
                ${f.name}_portable(&k, pixels, ${width}, left, (pixels == ${p.pixels} ? ${k.reach} : ${k.reach_one}) - right);
            }
% if k.covered:
#endif
% endif
% endif
</%def>\
<%def name="groups(packed)">
% for width in widths:
<%
tail = len(widths) > 1 and loop.last
only = len(widths) == 1
one = f"channels - {G}" if tail and lapped else f"group * {G}"
begins = one.replace("group", "from_group")
%>\
% if only:
        {
            const int from_group = first, to_group = last;
% elif tail:
        if (last > channels / ${G}) {
            const int from_group = channels / ${G}, to_group = from_group + 1;
% else:
        if (first < channels / ${G}) {
            const int from_group = first, to_group = last < channels / ${G} ? last : channels / ${G};
% endif
            k.w = w + from_group * ${p.channel_bytes * G // 4};
% if whole:
            k.starts = 0;
            k.words = ${starts * width};
            k.rest = 0;
% else:
            k.starts = ${f"({times('above', p.bottoms + 1)} + below) * {4 * width}" if g.starts > 1 else "0"};
            k.words = ${starts * width} + above * ${p.row_bytes * width};
            k.rest = below * ${p.row_bytes * width};
% endif
% if k.sums or (packed and g.apart):
            for (int group = from_group; group < to_group; group++) {
                const int channel = ${one};
% if packed and g.apart:
                ${f.name}_pack(own, rows_first + ${times("channel", XB)}, rows, from + ${times('pixel', w.strides[1])}, tile, channels);
% endif
                k.x = ${"own" if packed else f"x_first + {times('channel', XB)}" if g.apart else "x_first"};
                k.units = 1;
% if k.sums:
                int32_t sums[${p.pixels * width}];
                k.y = (unsigned char *)sums;
                k.y_end = k.y + ${4 * width};
                k.y_step = ${4 * width};
% else:
                k.y = y_first + ${times("(pixel * channels + channel)", YB)};
                k.y_end = k.y + ${G * YB};
% endif
                ${call(width, packed)}\
% if k.sums:
                ${f.name}_codes(sums, ${1 if packed else "pixels"}, ${width}, y_first + ${"pixel * channels + channel" if packed else "channel"}, channels, ${k.sums.arguments("channel")[:-2] or "0"});
% endif
                k.w += ${p.channel_bytes * G // 4};
            }
        }
% elif packed:
            k.x = own;
            k.y = y_first + ${times(f"(pixel * channels + {begins})", YB)};
            k.y_end = y_first + ${times("(pixel * channels + " + (f"from_group * {G} + {width}" if tail or width < G else f"to_group * {G}") + ")", YB)};
            k.units = 1;
            ${call(width, True)}\
            (void)to_group;
        }
% else:
            k.x = x_first${f" + {times(grouped(begins), XB)}" if g.apart else ""};
            k.y = y_first + ${times(grouped(begins), YB)};
            k.y_end = y_first + ${times("channels" if tail and lapped else f"(from_group * {G} + {width})" if tail or width < G else f"to_group * {G}", YB)};
            k.units = units;
            ${call(width, False)}\
            (void)to_group;
        }
% endif
% endfor
</%def>\
<%include file="/block_portable.c.mako"/>\

#ifdef TILEWRIGHT_XPULP
% for v in [*k.variants, *(v for v in k.packed if v not in k.variants)]:
/* ${v.pixels} pixels, ${v.channels} channels at a time; ${v.left} columns are missing at the left, ${v.right} at the right${", taps lie side by side" if v.kind else ""}. */
static inline __attribute__((always_inline)) void ${f.name}_${v.name}(tilewright_block *k)
{
    __asm__ volatile(
${v.text}
        : [k] "+m"(*k) :
        : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
          "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
}

% endfor
#endif
% if k.run:
${helpers.run()}\
% endif
% if k.sums:
${helpers.codes()}\
% endif
% if k.packed:
${helpers.pack(pixel_bytes)}\
% endif
/* Cores share blocks of ${p.pixels} pixels and, inside a block, groups of four output channels. A core's blocks lie ${"side by side" if whole else "below each other"}. */
static void ${f.name}(${f.parameters})
{
    const int channels = tile->channels;
    const int begun = channels + ${G - 1};
    const unsigned blocks = (unsigned)begun >> ${G // 2};
    const int groups = (int)blocks;
    const int columns = ${"tile->rows * " if whole else ""}tile->columns;
% if p.pixels > 1:
    const unsigned fours = (unsigned)columns >> 2;
    const int full = (int)fours, over = columns & 3;
    const int singles = full == 0 || over <= 2 ? over : 0; /* three are left to a block over the one before */
    const int wide = full + (singles != over), places = wide + singles; /* of all pixels, of all pixels or of one */
% elif whole:
    const int places = columns;
% else:
    const int wide = columns, places = columns;
% endif
% if whole:
    const int begin = tilewright_share(places * groups, core, cores), stop = tilewright_share(places * groups, core + 1, cores);
    const int end_place = tilewright_quotient(stop, groups), end_group = stop - end_place * groups;
    int place = tilewright_quotient(begin, groups), first = begin - place * groups;
% else:
    /* Blocks that miss rows at the upper and the lower edge count for less. */
% if p.tops:
    const int over_top = tile->top > 0 ? ${f"(tile->top + {w.dilations[0] - 1}) / {w.dilations[0]}" if w.dilations[0] > 1 else "tile->top"} : 0;
% else:
    const int over_top = 0;
% endif
% if p.bottoms:
    const int over_end = ${times('(tile->rows - 1)', w.strides[0])} - tile->top + ${(w.kernel[0] - 1) * w.dilations[0] + 1} - tile->in_rows;
    const int over_bottom = over_end > 0 ? ${f"(over_end + {w.dilations[0] - 1}) / {w.dilations[0]}" if w.dilations[0] > 1 else "over_end"} : 0;
% else:
    const int over_bottom = 0;
% endif
    const tilewright_shares shares = tilewright_shared(wide, places, tile->rows, groups, ${k.pixel_share}, over_top * ${k.row_share}, over_bottom * ${k.row_share}, cores);
    const tilewright_place at = tilewright_first_block(&shares, core, cores), end = tilewright_first_block(&shares, core + 1, cores);
    int place = at.place, line = at.line, first = at.group;
% endif
% if p.gathered:
    unsigned char *const own = (unsigned char *)scratch + core * ${p.pixels * p.run};
% endif
    tilewright_block k = {0};
    k.y_step = ${times('channels', YB)};
    k.x_step = ${pixel_bytes};
% if not whole:
    k.x_unit = ${times('tile->in_columns', w.strides[0])} * ${pixel_bytes};
    k.y_unit = columns * ${times("channels", YB)};
% endif
    for (;;) {
% if whole:
        const int last = place < end_place ? groups : place == end_place ? end_group : 0;
        if (first >= last) {
            return;
        }
% else:
        const int end_line = place < end.place ? tile->rows : end.line;
        const int last = line < end_line ? groups : place == end.place && line == end_line ? end.group : 0;
        if (first >= last) {
            if (place >= end.place) {
                return;
            }
            place++;
            line = 0;
            continue;
        }
% endif
% if p.pixels > 1:
        int pixels = 1;
        if (place < wide) {
            pixels = ${p.pixels};
        }
        const int column = place < full ? place * ${p.pixels} : pixels == 1 ? columns - places + place : columns - pixels;
% else:
        const int pixels = 1, column = place;
% endif
% if p.gathered:
        unsigned char *to = own;
        int y_row = column / tile->columns, y_column = column - y_row * tile->columns;
        for (int pixel = 0; pixel < pixels; pixel++) {
            const int top = ${times('y_row', w.strides[0])} - tile->top;
            const int from = ${times('y_column', w.strides[1])} - tile->left;
            y_column++;
            if (y_column == tile->columns) {
                y_column = 0;
                y_row++;
            }
% if k.run:
            if (top >= 0 && ${plus('top', (w.kernel[0] - 1) * w.dilations[0])} < tile->in_rows && from >= 0 && from + ${w.kernel[1]} <= tile->in_columns) {
                const unsigned char *run = (const unsigned char *)${k.source} + ${times('(top * tile->in_columns + from)', w.depth)};
                for (int kh = 0; kh < ${w.kernel[0]}; kh++) {
                    to = ${f.name}_run(to, run);
                    run += ${times('tile->in_columns', w.dilations[0] * w.depth)};
                }
                to += ${p.run - w.taps}; /* whatever lies there meets weights of zero */
                continue;
            }
% endif
            for (int kh = 0; kh < ${w.kernel[0]}; kh++) {
                const int row = top + ${times('kh', w.dilations[0])};
% if w.dilations[1] > 1:
                for (int kw = 0; kw < ${w.kernel[1]}; kw++) {
                    const int there = from + kw * ${w.dilations[1]};
                    if (row < 0 || row >= tile->in_rows || there < 0 || there >= tile->in_columns) {
                        to = tilewright_fill(to, ${g.zeros}u, ${w.depth});
                    } else {
                        to = tilewright_gather(to, (const unsigned char *)${k.source} + ${times('(row * tile->in_columns + there)', w.depth)}, ${w.depth});
                    }
                }
% else:
                const int begin_column = from < 0 ? 0 : from;
                const int end_column = from + ${w.kernel[1]} < tile->in_columns ? from + ${w.kernel[1]} : tile->in_columns;
                if (row < 0 || row >= tile->in_rows || begin_column >= end_column) {
                    to = tilewright_fill(to, ${g.zeros}u, ${w.kernel[1] * w.depth});
                } else {
                    to = tilewright_fill(to, ${g.zeros}u, ${times('(begin_column - from)', w.depth)});
                    to = tilewright_gather(to, (const unsigned char *)${k.source} + ${times('(row * tile->in_columns + begin_column)', w.depth)}, ${times('(end_column - begin_column)', w.depth)});
                    to = tilewright_fill(to, ${g.zeros}u, ${times(f'(from + {w.kernel[1]} - end_column)', w.depth)});
                }
% endif
            }
            to += ${p.run - w.taps};
        }
% endif
% if whole:
        const int left = 0, right = 0, rows = 1;
% if p.gathered:
        const int units = 1;
% else:
        int units = ${"(place < full ? full : place < wide ? wide : places)" if p.pixels > 1 else "places"} - place;
        units = units < end_place - place ? units : end_place - place;
        units = ${"1" if k.sums else "last - first < groups || units < 1 ? 1 : units"};
        k.x_unit = pixels * ${g.depth};
        k.y_unit = pixels * ${times("channels", YB)};
% endif
% else:
        const int from = ${times('column', w.strides[1])} - tile->left;
        const int all_reach = ${k.reach}, one_reaches = ${k.reach_one};
        const int reach = pixels == ${p.pixels} ? all_reach : one_reaches;
        const int left = from < 0 ? -from : 0;
        const int right = from + reach > tile->in_columns ? from + reach - tile->in_columns : 0;
        const int top = ${times('line', w.strides[0])} - tile->top;
% if p.tops:
        const int above = top < 0 ? ${f"(-top + {w.dilations[0] - 1}) / {w.dilations[0]}" if w.dilations[0] > 1 else "-top"} : 0;
% else:
        const int above = 0;
% endif
        const int spare = tile->in_rows - top - ${(w.kernel[0] - 1) * w.dilations[0] + 1}; /* input rows behind the last one that is read */
% if p.bottoms:
        const int below = spare < 0 ? ${f"(-spare + {w.dilations[0] - 1}) / {w.dilations[0]}" if w.dilations[0] > 1 else "-spare"} : 0;
% else:
        const int below = 0;
% endif
        const int rows = ${w.kernel[0]} - above - below;
        int units = rows < ${w.kernel[0]} || last - first < groups ? 1 : spare${f" / {w.strides[0]}" if w.strides[0] > 1 else ""} + 1;
        units = ${"1" if k.sums else "units > end_line - line && line < end_line ? end_line - line : units"};
        k.row_step = ${f"({times('tile->in_columns', w.dilations[0])} - {grouped(plus(times('pixels', g.stride), (g.places - 1) * g.dilation))}) * {pixel_bytes}" if g.apart else f"{times('tile->in_columns', w.dilations[0] * g.depth)} - {g.depth}"};
% endif
        const unsigned char *const x_first = ${"own" if p.gathered else f"(const unsigned char *){k.source} + {times('column', g.depth)}" if whole else f"(const unsigned char *){k.source} + ((top + {times('above', w.dilations[0])}) * tile->in_columns + from + left) * {pixel_bytes}"};
% if k.sums:
        ${k.y_type} *const y_first = y + (${"" if whole else "line * columns + "}column) * channels;
% else:
        unsigned char *const y_first = (unsigned char *)y + (${"" if whole else "line * columns + "}column) * ${times("channels", YB)};
% endif
        k.rows = rows;
% if k.packed:
#ifdef TILEWRIGHT_XPULP
        if (!(${" || ".join(f"(pixels == {v.pixels} && left == {v.left} && right == {v.right})" for v in k.variants if v.channels == widths[0])}) && rows > 0) {
            unsigned char *const own = (unsigned char *)scratch + core * ${p.packed_bytes};
            const unsigned char *const rows_first = (const unsigned char *)${k.source} + (top + ${times('above', w.dilations[0])}) * tile->in_columns * ${pixel_bytes};
            k.row_step = ${0 if g.apart else (g.places - 1) * g.depth};
            k.x_step = ${g.depth};
            for (int pixel = 0; pixel < pixels; pixel++) {
% if not g.apart:
                ${f.name}_pack(own, rows_first, rows, from + ${times('pixel', w.strides[1])}, tile);
% endif
${groups(True)}\
            }
            k.x_step = ${pixel_bytes};
            first = 0;
            line++;
            continue;
        }
#endif
% endif
${groups(False)}\
        first = 0;
% if whole:
        place += units;
% else:
        line += units;
% endif
    }
}
