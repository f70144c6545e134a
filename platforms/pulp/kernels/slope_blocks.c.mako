<%def name="begun(of)">\
    const float *const t0 = of->target${"".join(f", *const t{lane} = t0 + of->w_lanes[{lane}]" for lane in range(1, of.lanes))};
    float *const n0 = of->next${"".join(f", *const n{lane} = n0 + of->w_lanes[{lane}]" for lane in range(1, of.lanes))};
% for lane in range(of.lanes):
    float ${", ".join(f"s{lane}_{at} = 0.0f" for at in range(len(of.sums)))};
% endfor
</%def>\
<%def name="moved(of, window, rate, decayed)">\
<%
def place(at):
    channel, tap = of.sums[at]
    return plus(times("of->w_channel", channel), tap) if channel else str(tap)
%>\
    if (!of->first) {
% for lane in range(of.lanes):
        ${" ".join(f"s{lane}_{at} += n{lane}[{place(at)}];" for at in range(len(of.sums)))}
% endfor
    }
    if (of->last) {
% for lane in range(of.lanes):
        ${" ".join(f"s{lane}_{at} = TILEWRIGHT_ADD_PRODUCT({rate}, s{lane}_{at}, {decayed(f't{lane}[{place(at)}]')});" for at in range(len(of.sums)))}
% endfor
    }
% for lane in range(of.lanes):
    ${" ".join(f"n{lane}[{place(at)}] = s{lane}_{at};" for at in range(len(of.sums)))}
% endfor
</%def>\
<%def name="line(name, of, window, rate, decayed)">\
/* The slopes of ${"a result" if of.lanes == 1 else f"{of.lanes} results"} and ${of.channels} ${"channel" if of.channels == 1 else "channels"} at a tap, over all pixels that meet. */
TILEWRIGHT_IN_ORDER void ${name}(const tilewright_slopes *of)
{
${begun(of)}\
    for (int image = 0; image < of->images; image++) {
        const float *y = of->y + image * of->y_image, *p0 = of->x + image * of->x_image;
        const float ${", ".join(f"*q{lane} = y + of->y_lanes[{lane}]" for lane in range(of.lanes))};
% for at in range(1, of.channels):
        const float *p${at} = p${at - 1} + of->x_plane;
% endfor
        const int y_next = of->y_row - of->columns, x_next = of->x_row - ${times("of->columns", of.step)};
        for (int row = of->rows; row > 0; row--) {
            float a0, a1, ${", ".join(f"b{at}" for at in range(of.channels))};
            int left = of->columns;
            for (; left > 3; left -= 4) {
% for text in of.lines(4):
                ${text}
% endfor
            }
            for (; left > 0; left--) {
% for text in of.lines(1):
                ${text}
% endfor
            }
            ${" ".join(f"q{lane} += y_next;" for lane in range(of.lanes))} ${" ".join(f"p{at} += x_next;" for at in range(of.channels))}
        }
    }
${moved(of, window, rate, decayed)}\
}

</%def>\
<%def name="windowed(name, of, window, rate, decayed)">\
/* The slopes of ${"a result" if of.lanes == 1 else f"{of.lanes} results"} and ${of.channels} ${"channel" if of.channels == 1 else "channels"} at ${len(of.taps)} columns of the window, block by block of the rows that meet. */
TILEWRIGHT_IN_ORDER void ${name}(const tilewright_slopes *of)
{
${begun(of)}\
    for (int image = 0; image < of->images; image++) {
        const float *y = of->y + image * of->y_image, *x = of->x + image * of->x_image;
% for number, segment in enumerate(of.blocks.segments):
<%
kind = of.blocks.kinds[segment.kind]
single = number != of.blocks.longest and segment.blocks == 1
%>\
% if kind.inputs:
${"        {" if single else f"        for (int block = {'of->middle' if number == of.blocks.longest else segment.blocks}; block > 0; block--) {{"}
            const float ${", ".join(f"*q{lane} = y + of->y_lanes[{lane}]" for lane in range(of.lanes))};
            const float *p0 = ${plus("x", kind.origin)}${"".join(f", *p{at} = p{at - 1} + of->x_plane" for at in range(1, of.channels))};
            for (int row = of->rows; row > 0; row--) {
                float a0, a1, ${", ".join(of.inputs(kind))};
% for text in of.lines(kind):
                ${text}
% endfor
            }
            y += ${kind.width}, x += ${kind.width * kind.step};
        }
% elif number == of.blocks.longest:
        y += of->middle * ${kind.width}, x += of->middle * ${kind.width * kind.step};
% else:
        y += ${segment.blocks * kind.width}, x += ${segment.blocks * kind.width * kind.step};
% endif
% endfor
    }
${moved(of, window, rate, decayed)}\
}

</%def>\
