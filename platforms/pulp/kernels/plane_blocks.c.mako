<%def name="blocks(name, b, begin, end, beside=())">\
% for lanes in b.lanes:
% for number, kind in enumerate(b.kinds):
<%
body = b.body(kind, lanes)
y = [[f"y{lane}[{at * b.row.apart}]" for at in range(kind.width)] for lane in range(lanes)]
outer, inner = ("planes", "rows") if b.by_rows else ("rows", "planes")
%>\
TILEWRIGHT_IN_ORDER void ${name}_${lanes}_block${number}(const tilewright_plane_row *row, int result, int blocks)
{
    float *y0 = row->y + ${times("result", b.row.apart)}${"".join(f", *y{lane} = y{lane - 1} + row->y_plane" for lane in range(1, lanes))};
% for letter, member in beside:
    const float *${letter}0 = row->${member} + ${times("result", b.row.apart)}${"".join(f", *{letter}{lane} = {letter}{lane - 1} + row->y_plane" for lane in range(1, lanes))};
% endfor
% if kind.inputs:
    const float *from = row->x + ${grouped(plus(times("result", b.row.step), kind.origin))};
% endif
    for (; blocks > 0; blocks--) {
% if kind.inputs:
        const float *x = from, ${", ".join(f"*w{lane} = " + (f"w{lane - 1} + row->w_lane" if lane else "row->w") for lane in body.pointers)};
% endif
% for lane in range(lanes):
        float ${", ".join(f"s{lane}{at} = {begin(lane, y[lane][at], at * b.row.apart)}" for at in range(kind.width))};
% endfor
% if kind.inputs:
        for (int outer = row->${outer}; outer > 0; outer--) {
            for (int left = row->${inner}; left > 0; ${"left--" if body.terms == 1 else f"left -= {body.terms}"}) {
                float a0, a1, ${", ".join(f"b{at}" for at in range(len(kind.inputs)))};
% for line in body.lines:
                ${line}
% endfor
            }
            x += row->x_next;
            ${" ".join(f"w{lane} += row->w_next;" for lane in body.pointers)}
        }
% endif
% for lane in range(lanes):
        ${" ".join(f"{y[lane][at]} = {end(lane, f's{lane}{at}', at * b.row.apart)};" for at in range(kind.width))}
        y${lane} += ${kind.width * b.row.apart};
% endfor
% for letter, _ in beside:
        ${" ".join(f"{letter}{lane} += {kind.width * b.row.apart};" for lane in range(lanes))}
% endfor
% if kind.inputs:
        from += ${kind.width * b.row.step};
% endif
    }
}

% endfor
% if b.even:
/* The results of some blocks; the last block of a row may be narrow. */
static void ${name}_${lanes}_row(const tilewright_plane_row *row, int first, int end)
{
    ${name}_${lanes}_block0(row, first, (end - first) / 4);
    first += (end - first) / 4 * 4;
    if (first + 3 == end) {
        ${name}_${lanes}_block1(row, first, 1);
    } else if (first + 2 == end) {
        ${name}_${lanes}_block2(row, first, 1);
    } else if (first + 1 == end) {
        ${name}_${lanes}_block3(row, first, 1);
    }
}
% else:
/* Some blocks of a row. */
static void ${name}_${lanes}_row(const tilewright_plane_row *row, int block, int end)
{
    int last;
% for number, segment in enumerate(b.segments):
    last = end < ${b.end(number)} ? end : ${b.end(number)};
    if (block < last) {
        ${name}_${lanes}_block${segment.kind}(row, ${b.result(number)}, last - block);
        block = last;
    }
% endfor
}
% endif

% endfor
</%def>\
