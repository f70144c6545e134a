<%def name="run()">\
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

</%def>\
<%def name="codes()">\
/* Codes of the sums of some pixels. */
static void ${f.name}_codes(const int32_t *sums, int pixels, int width, ${k.y_type} *y, int step, ${k.sums.parameters[:-2] or "int unused"})
{
    for (int pixel = 0; pixel < pixels; pixel++) {
        for (int c = 0; c < width; c++) {
            const int32_t acc = *sums++;
            int32_t code = ${k.sums.code("acc", "c")};
            code = code < ${k.sums.low} ? ${k.sums.low} : code;
            y[pixel * step + c] = (${k.y_type})(code > ${k.sums.high} ? ${k.sums.high} : code);
        }
    }
% if not k.sums.arrays:
    (void)unused;
% endif
}

</%def>\
<%def name="pack(pixel_bytes)">\
<%
g, w = k.plan.geometry, k.plan.window
%>\
/* The window of a pixel whose taps lie side by side, zero points where columns are missing; `x` is the first row that is
 * there, of its columns the first tap reads `from`. */
static void ${f.name}_pack(unsigned char *to, const unsigned char *x, int rows, int from, const tilewright_conv_tile *tile${", int channels" if g.apart else ""})
{
    for (; rows > 0; rows--) {
        for (int column = from; column < from + ${w.kernel[1] * w.dilations[1]}; column += ${w.dilations[1]}) {
            if (column < 0 || column >= tile->in_columns) {
                to = tilewright_fill(to, ${g.zeros}u, ${g.depth});
            } else {
                to = tilewright_gather(to, x + column * ${pixel_bytes}, ${g.depth});
            }
        }
        x += tile->in_columns * ${times("channels", w.dilations[0] * 4 // g.lanes) if g.apart else w.dilations[0] * g.depth};
    }
}

</%def>\
