<%
p, g, w = k.plan, k.plan.geometry, k.plan.window
q = g.requantise
starts = 4 * g.starts
whole = p.window.flat or p.gathered
widths = sorted({v.channels for v in k.variants}, reverse=True)
%>\
/* The block as portable C: what the cores' instructions compute, read from the same stream of weights. */
% if k.covered:
#ifndef TILEWRIGHT_XPULP
% endif
static void ${f.name}_portable(const tilewright_block *k, int pixels, int width, int left, int right)
{
    const int32_t *stream = k->w;
    for (unsigned char *y = k->y; y < k->y_end; y += width) {
        const signed char *const taps = (const signed char *)stream + k->words;
        const int32_t *const numbers = stream + width * ${g.starts + p.rows * p.row_bytes // 4};
        for (int i = 0; i < pixels * width; i++) {
            const int pixel = i / width, c = i % width;
            int32_t acc = stream[k->starts / 4 + c];
            for (int row = 0; row < k->rows; row++) {
% if g.apart:
                const int walked = pixels * ${g.stride} + ${(g.taps - 1) * g.dilation};
                const ${k.x_type} *const x = (const ${k.x_type} *)k->x + row * (k->row_step + walked * k->x_step) + (y - k->y);
                for (int tap = 0; tap < ${g.taps}; tap++) {
                    const int column = pixel * ${g.stride} + tap * ${g.dilation};
                    const int outside = column < left || column >= right;
                    const int value = outside ? ${g.zero_point} : x[(column - left) * k->x_step + c];
                    acc += value * taps[((row * ${g.taps} + tap) * width + c) * 4 + c];
                }
% else:
                for (int at = 0; at < ${p.row_bytes}; at++) {
                    const int word = at / ${4 * g.taps}, tap = at / 4 % ${g.taps};
                    const int column = pixel * ${g.stride} + tap * ${g.dilation};
                    const ${k.x_type} *const x = (const ${k.x_type} *)k->x + row * (k->row_step + ${g.depth});
                    const int outside = column < left || column >= right;
                    const int value = outside ? ${g.zero_point} : x[(column - left) * ${g.depth} + word * 4 + at % 4];
                    acc += value * taps[(row * ${p.row_bytes // 4} + at / 4) * width * 4 + c * 4 + at % 4];
                }
% endif
            }
% if q.addend is None:
            const int32_t *const form = numbers + c * 3;
            int32_t code = ((int32_t)(((int64_t)(acc${f" * {1 << q.pre_shift}" if q.pre_shift else ""}) * form[0]) >> 32) + form[1]) >> form[2];
% else:
            int32_t code = ((int32_t)(((int64_t)(acc${f" * {1 << q.pre_shift}" if q.pre_shift else ""}) * numbers[c]) >> 32) + ${q.addend}) >> ${q.shift};
% endif
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            ((${k.y_type} *)(void *)y)[pixel * k->y_step + c] = (${k.y_type})code;
        }
        stream += width * ${p.channel_bytes // 4};
    }
}
% if k.covered:
#endif
% endif

#ifdef TILEWRIGHT_XPULP
% for v in k.variants:
/* ${v.pixels} pixels, ${v.channels} channels at a time; ${v.left} columns are missing at the left, ${v.right} at the right. */
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
/* One run of ${k.run.bytes} bytes from anywhere to anywhere. */
static inline unsigned char *${f.name}_run(unsigned char *to, const unsigned char *from)
{
#ifdef TILEWRIGHT_XPULP
% for moves in k.run.moves:
    {
        uint32_t ${", ".join(f"w{i}" for i in range(len(moves)))};
        __asm__ volatile("${"".join(f"{load} %{i}, {at}(%{len(moves)})" + chr(92) + "n" + chr(92) + "t" for i, (at, load, store) in enumerate(moves))}${(chr(92) + "n" + chr(92) + "t").join(f"{store} %{i}, {at}(%{len(moves) + 1})" for i, (at, load, store) in enumerate(moves))}"
            : ${", ".join(f'"=&r"(w{i})' for i in range(len(moves)))} : "r"(from), "r"(to) : "memory");
    }
% endfor
#else
    for (int i = 0; i < ${k.run.bytes}; i++) {
        to[i] = from[i];
    }
#endif
    return to + ${k.run.bytes};
}

% endif
/* Cores share blocks of ${p.pixels} pixels and, inside a block, groups of four output channels. */
static void ${f.name}(${f.parameters})
{
    const int channels = tile->channels, groups = (channels + 3) / 4;
% if whole:
    const int lines = 1, columns = tile->rows * tile->columns;
% else:
    const int lines = tile->rows, columns = tile->columns;
% endif
    const int full = columns / ${p.pixels}, over = columns % ${p.pixels};
% if p.pixels > 1:
    const int singles = full == 0 || over <= 2 ? over : 0; /* three are left to a block over the one before */
    const int units = full + (singles == over ? over : 1);
% else:
    const int units = full;
% endif
    const int end = tilewright_share(lines * units * groups, core + 1, cores);
% if p.gathered:
    unsigned char *const own = (unsigned char *)scratch + core * ${p.pixels * p.run};
% endif
    int item = tilewright_share(lines * units * groups, core, cores);
    if (item >= end) {
        return;
    }
    const int unit = item / groups;
    int first = item - unit * groups;
    int line = ${"0" if whole else "unit / units"}, place = unit - line * units - 1;
    for (; item < end; first = 0) {
        const int last = end - item < groups - first ? first + end - item : groups;
        place++;
% if not whole:
        if (place == units) {
            place = 0;
            line++;
        }
% endif
% if p.pixels > 1:
        const int pixels = place < full || singles != over ? ${p.pixels} : 1;
        const int column = place < full ? place * ${p.pixels} : pixels == 1 ? columns - units + place : columns - pixels;
% else:
        const int pixels = 1, column = place + over;
% endif
        item += last - first;
% if p.gathered:
        unsigned char *to = own;
        int y_row = column / tile->columns, y_column = column - y_row * tile->columns;
        for (int pixel = 0; pixel < pixels; pixel++) {
            const int top = y_row * ${w.strides[0]} - tile->top;
            const int from = y_column * ${w.strides[1]} - tile->left;
            y_column++;
            if (y_column == tile->columns) {
                y_column = 0;
                y_row++;
            }
% if k.run:
            if (top >= 0 && top + ${(w.kernel[0] - 1) * w.dilations[0]} < tile->in_rows && from >= 0 && from + ${w.kernel[1]} <= tile->in_columns) {
                const unsigned char *at = (const unsigned char *)${k.source} + (top * tile->in_columns + from) * ${w.depth};
                for (int kh = 0; kh < ${w.kernel[0]}; kh++) {
                    to = ${f.name}_run(to, at);
                    at += tile->in_columns * ${w.dilations[0] * w.depth};
                }
                to += ${p.run - w.taps}; /* whatever lies there meets weights of zero */
                continue;
            }
% endif
            for (int kh = 0; kh < ${w.kernel[0]}; kh++) {
                const int row = top + kh * ${w.dilations[0]};
% if w.dilations[1] > 1:
                for (int kw = 0; kw < ${w.kernel[1]}; kw++) {
                    const int at = from + kw * ${w.dilations[1]};
                    if (row < 0 || row >= tile->in_rows || at < 0 || at >= tile->in_columns) {
                        to = tilewright_fill(to, ${k.zero_point & 255}, ${w.depth});
                    } else {
                        to = tilewright_gather(to, ${k.source} + (row * tile->in_columns + at) * ${w.depth}, ${w.depth});
                    }
                }
% else:
                const int begin = from < 0 ? 0 : from;
                const int stop = from + ${w.kernel[1]} < tile->in_columns ? from + ${w.kernel[1]} : tile->in_columns;
                if (row < 0 || row >= tile->in_rows || begin >= stop) {
                    to = tilewright_fill(to, ${k.zero_point & 255}, ${w.kernel[1] * w.depth});
                } else {
                    to = tilewright_fill(to, ${k.zero_point & 255}, (begin - from) * ${w.depth});
                    to = tilewright_gather(to, ${k.source} + (row * tile->in_columns + begin) * ${w.depth}, (stop - begin) * ${w.depth});
                    to = tilewright_fill(to, ${k.zero_point & 255}, (from + ${w.kernel[1]} - stop) * ${w.depth});
                }
% endif
            }
            to += ${p.run - w.taps};
        }
        const int left = 0, right = 0, rows = 1;
% elif whole:
        const int left = 0, right = 0, rows = 1;
% else:
        const int from = column * ${w.strides[1]} - tile->left;
        const int reach = pixels == ${p.pixels} ? ${k.reach} : ${k.reach_one};
        const int left = from < 0 ? -from : 0;
        const int right = from + reach > tile->in_columns ? from + reach - tile->in_columns : 0;
        const int top = line * ${w.strides[0]} - tile->top;
% if p.tops:
        const int above = top < 0 ? (-top + ${w.dilations[0] - 1}) / ${w.dilations[0]} : 0;
% else:
        const int above = 0;
% endif
% if p.bottoms:
        const int there = (tile->in_rows - top + ${w.dilations[0] - 1}) / ${w.dilations[0]};
        const int below = there < ${w.kernel[0]} ? ${w.kernel[0]} - there : 0;
% else:
        const int below = 0;
% endif
        const int rows = ${w.kernel[0]} - above - below;
% endif
% for width in widths:
<% tail = width < 4 and len(widths) > 1; only = len(widths) == 1; inner = "" if only else "    " %>\
% if only:
        {
            const int from_group = first, to_group = last;
% elif tail:
        if (last > channels / 4) {
            const int from_group = channels / 4, to_group = from_group + 1;
% else:
        if (first < channels / 4) {
            const int from_group = first, to_group = last < channels / 4 ? last : channels / 4;
% endif
            tilewright_block k = {
% if p.gathered:
                own,
% elif whole:
                ${k.source} + column * ${g.depth},
% else:
                ${k.source} + ((top + above * ${w.dilations[0]}) * tile->in_columns + from + left) * ${"channels + from_group * 4" if g.apart else g.depth},
% endif
                w + from_group * ${p.channel_bytes},
                (unsigned char *)y + (line * columns + column) * channels + from_group * 4,
                (unsigned char *)y + (line * columns + column) * channels + ${f"from_group * 4 + {width}" if tail or width < 4 else "to_group * 4"},
                channels,
% if whole:
                0,
                rows,
                0,
                ${starts * width},
                0,
% else:
% if g.apart:
                (tile->in_columns * ${w.dilations[0]} - (pixels * ${g.stride} + ${(g.taps - 1) * g.dilation})) * channels,
% else:
                tile->in_columns * ${w.dilations[0] * g.depth} - ${g.depth},
% endif
                rows,
                ${f"(above * {p.bottoms + 1} + below) * {4 * width}" if g.starts > 1 else "0"},
                ${starts * width} + above * ${p.row_bytes * width},
                below * ${p.row_bytes * width},
% endif
                ${"channels" if g.apart else g.depth},
            };
#ifdef TILEWRIGHT_XPULP
% for v in [v for v in k.variants if v.channels == width]:
            ${"" if loop.first else "} else "}if (pixels == ${v.pixels} && left == ${v.left} && right == ${v.right} && rows > 0) {
                ${f.name}_${v.name}(&k);
% endfor
% if k.covered:
            }
#else
            {
                ${f.name}_portable(&k, pixels, ${width}, left, (pixels == ${p.pixels} ? ${k.reach} : ${k.reach_one}) - right);
            }
#endif
            (void)to_group;
        }
% else:
            } else
#endif
            {
                ${f.name}_portable(&k, pixels, ${width}, left, (pixels == ${p.pixels} ? ${k.reach} : ${k.reach_one}) - right);
            }
            (void)to_group;
        }
% endif
% endfor
    }
}
