<%def name="sums(name, widths)">\
% for block in widths:
/* Sums of products of four results and ${block.width} ${"channel" if block.width == 1 else "channels"} over all pixels that meet at a tap. */
TILEWRIGHT_IN_ORDER void ${name}_sums${block.width}(const tilewright_slopes *of, float *sums)
{
% for lane in range(4):
    float ${", ".join(f"s{lane}{at} = 0.0f" for at in range(block.width))};
% endfor
    for (int image = 0; image < of->images; image++) {
        const float *y = of->y + image * of->y_image, *p0 = of->x + image * of->x_image;
        const float ${", ".join(f"*q{lane} = y + of->y_lanes[{lane}]" for lane in range(4))};
% for at in range(1, block.width):
        const float *p${at} = p${at - 1} + of->x_plane;
% endfor
        const int y_next = of->y_row - of->columns, x_next = of->x_row - ${times("of->columns", block.step)};
        for (int row = of->rows; row > 0; row--) {
            float a0, a1, ${", ".join(f"b{at}" for at in range(block.width))};
            int left = of->columns;
            for (; left > 3; left -= 4) {
% for line in block.lines(4):
                ${line}
% endfor
            }
            for (; left > 0; left--) {
% for line in block.lines(1):
                ${line}
% endfor
            }
            ${" ".join(f"q{lane} += y_next;" for lane in range(4))} ${" ".join(f"p{at} += x_next;" for at in range(block.width))}
        }
    }
% for lane in range(4):
    ${", ".join(f"sums[{4 * lane + at}] = s{lane}{at}" for at in range(block.width))};
% endfor
}

% endfor
</%def>\
