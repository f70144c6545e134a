<%
t, n, o = k.common.product, k.common.names, k.common
back, learns = n["dx"] != "NULL", n["next"] != "NULL"
rows, columns = k.plane
taps = [(kh * t.kernel[1] + kw, kh * t.dilations[0] * columns + kw * t.dilations[1]) for kh in range(t.kernel[0]) for kw in range(t.kernel[1])]
behind = [(kh * t.kernel[1] + kw, (t.kernel[0] - 1 - kh) * t.dilations[0] * k.spread[1] + (t.kernel[1] - 1 - kw) * t.dilations[1]) for kh in range(t.kernel[0]) for kw in range(t.kernel[1])]
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
%>\
static void ${f.name}(${f.parameters})
{
    tilewright_code_descent descent = {
        x, codes, w, ${n["rest"] if learns else "NULL"}, ${n["dx"]}, ${n["next"]}, ${n["next_rest"]},
        ${n["shares"] if back else "NULL"}, ${n["rates"] if learns else "NULL"}, ${o.zero}, ${o.limits[0]}, ${o.limits[1]},
        ${"shift[0]" if back else "0"}, ${"%d - exponent[0]" % o.places if learns else "0"}, ${o.before}, ${o.share_bits},
        tilewright_drawn_from(count[0], ${o.own}u), tilewright_drawn_from(count[0], ${o.own + 1}u),
        ${", ".join(listed(steps) for steps in o.weight_steps)}, ${listed(o.place)}, NULL, NULL, NULL, 0, NULL, 0u};
% if learns:
    int16_t *const plane = (int16_t *)scratch;
% endif
    for (int channel = 0; channel < ${t.groups}; channel++) {
        const int8_t *const y = codes + channel * ${o.y_steps[1]};
% if back:
% for tap, _ in taps:
        const int32_t w${tap} = tilewright_code_shared(&descent, channel, w[${"channel * %d + %d" % (o.weight_steps[0][0], tap // t.kernel[1] * o.weight_steps[0][2] + tap % t.kernel[1] * o.weight_steps[0][3])}]);
% endfor
% endif
% if learns:
        {
            int32_t ${", ".join("s%d = 0" % tap for tap, _ in taps)};
            tilewright_plane(x + channel * ${o.x_steps[1]}, ${o.x_steps[2]}, ${o.x_steps[3]}, ${t.size[0]}, ${t.size[1]}, ${t.begins[0]}, ${t.begins[1]}, ${rows}, ${columns}, ${o.zero}, plane);
            for (int row = 0; row < ${t.outs[0]}; row++) {
                const int16_t *from = plane + row * ${t.strides[0] * columns};
                const int8_t *line = y + row * ${o.y_steps[2]};
                for (int column = 0; column < ${t.outs[1]}; column++, from += ${t.strides[1]}, line += ${o.y_steps[3]}) {
                    const int32_t gradient = *line;
                    if (gradient != 0) {
% for tap, at in taps:
                        s${tap} += from[${at}] * gradient;
% endfor
                    }
                }
            }
% for tap, _ in taps:
<%
place = [(tap // t.kernel[1] * s[2] + tap % t.kernel[1] * s[3]) for s in o.weight_steps]
at = ["channel * %d + %d" % (s[0], p) for s, p in zip(o.weight_steps, place)]
%>\
            tilewright_code_move(&descent, channel, s${tap}, w[${at[0]}], ${n["rest"]}[${at[1]}], (uint32_t)(channel * ${t.taps} + ${tap}), ${n["next"]} + ${at[2]}, ${n["next_rest"]} + ${at[3]});
% endfor
        }
% endif
% if back:
        tilewright_spread(y, ${o.y_steps[2]}, ${o.y_steps[3]}, ${t.outs[0]}, ${t.outs[1]}, ${t.strides[0]}, ${t.strides[1]}, ${k.spread_at[0]}, ${k.spread_at[1]}, ${k.spread[0]}, ${k.spread[1]}, (int8_t *)scratch);
        for (int row = 0; row < ${t.size[0]}; row++) {
            const int8_t *from = (const int8_t *)scratch + row * ${k.spread[1]};
            for (int column = 0; column < ${t.size[1]}; column++, from++) {
                const int at = channel * ${o.x_steps[1]} + row * ${o.x_steps[2]} + column * ${o.x_steps[3]};
                int32_t sum = 0;
                if (x[at] > descent.low && x[at] < descent.high) {
                    sum = ${" + ".join("from[%d] * w%d" % (at, tap) for tap, at in behind)};
                }
                tilewright_code_put(&descent, sum, at, (uint32_t)(channel * ${o.place[1]} + row * ${o.place[2]} + column));
            }
        }
% endif
    }
% if back:
    dx_exponent[0] = exponent[0] + shift[0];
    next_shift[0] = tilewright_code_next_shift(shift[0], descent.seen);
% endif
}
