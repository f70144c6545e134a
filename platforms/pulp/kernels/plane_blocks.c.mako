<%def name="blocks(name, b, begin, end, beside=())">\
% for number, kind in enumerate(b.kinds):
<%
body = b.body(kind)
y = [[f"y{lane}[{at * b.row.apart}]" for at in range(kind.width)] for lane in range(4)]
outer, inner = ("planes", "rows") if b.by_rows else ("rows", "planes")
%>\
TILEWRIGHT_IN_ORDER void ${name}_block${number}(const tilewright_plane_row *row, int result, int blocks)
{
    float *y0 = row->y + ${times("result", b.row.apart)}, *y1 = y0 + row->y_plane, *y2 = y1 + row->y_plane, *y3 = y2 + row->y_plane;
% for letter, member in beside:
    const float *${letter}0 = row->${member} + ${times("result", b.row.apart)}, *${letter}1 = ${letter}0 + row->y_plane, *${letter}2 = ${letter}1 + row->y_plane, *${letter}3 = ${letter}2 + row->y_plane;
% endfor
% if kind.inputs:
    const float *from = row->x + ${grouped(plus(times("result", b.row.step), kind.origin))};
% endif
    for (; blocks > 0; blocks--) {
% if kind.inputs:
        const float *x = from, ${", ".join(f"*w{lane} = " + (f"w{lane - 1} + row->w_lane" if lane else "row->w") for lane in body.pointers)};
% endif
% for lane in range(4):
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
% for lane in range(4):
        ${" ".join(f"{y[lane][at]} = {end(lane, f's{lane}{at}', at * b.row.apart)};" for at in range(kind.width))}
        y${lane} += ${kind.width * b.row.apart};
% endfor
% for letter, _ in beside:
        ${" ".join(f"{letter}{lane} += {kind.width * b.row.apart};" for lane in range(4))}
% endfor
% if kind.inputs:
        from += ${kind.width * b.row.step};
% endif
    }
}

% endfor
% if b.even:
/* The results of some blocks of four lanes; the last block of a row may be narrow. */
static void ${name}_row(const tilewright_plane_row *row, int first, int end)
{
    ${name}_block0(row, first, (end - first) / 4);
    first += (end - first) / 4 * 4;
    if (first + 3 == end) {
        ${name}_block1(row, first, 1);
    } else if (first + 2 == end) {
        ${name}_block2(row, first, 1);
    } else if (first + 1 == end) {
        ${name}_block3(row, first, 1);
    }
}
% else:
% if b.single:
/* Where a block begins. */
static int ${name}_result(const tilewright_plane_row *row, int block)
{
% for number in range(len(b.segments) - 1, 0, -1):
    if (block >= ${b.before(number)}) {
        return ${b.result(number)};
    }
% endfor
% if b.longest == len(b.segments) - 1:
    (void)row;
% endif
    return ${b.result(0)};
}

% endif
/* Some blocks of four lanes. */
static void ${name}_row(const tilewright_plane_row *row, int block, int end)
{
    int last;
% for number, segment in enumerate(b.segments):
    last = end < ${b.end(number)} ? end : ${b.end(number)};
    if (block < last) {
        ${name}_block${segment.kind}(row, ${b.result(number)}, last - block);
        block = last;
    }
% endfor
}
% endif
</%def>\
