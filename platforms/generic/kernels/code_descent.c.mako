<%
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
t, n = k.product, k.names
back, learns = n["dx"] != "NULL", n["next"] != "NULL"
%>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_product product = {
        ${t.images}, ${t.groups}, ${t.channels}, ${t.results}, ${listed(t.size)}, ${listed(t.outs)}, ${listed(t.kernel)},
        ${listed(t.strides)}, ${listed(t.dilations)}, ${listed(t.begins)}, ${listed(k.x_steps)}, ${listed(k.y_steps)}};
    tilewright_code_descent descent = {
        x, codes, w, ${n["rest"] if learns else "NULL"}, ${n["dx"]}, ${n["next"]}, ${n["next_rest"]},
        ${n["shares"] if back else "NULL"}, ${n["rates"] if learns else "NULL"}, ${k.zero}, ${k.limits[0]}, ${k.limits[1]},
        ${"shift[0]" if back else "0"}, ${"%d - exponent[0]" % k.places if learns else "0"}, ${k.before}, ${k.share_bits},
        tilewright_drawn_from(count[0], ${k.own}u), tilewright_drawn_from(count[0], ${k.own + 1}u),
        ${", ".join(listed(steps) for steps in k.weight_steps)}, ${listed(k.place)},
        ${"(int16_t *)scratch" if back and k.slopes else "NULL"}, ${"(int32_t *)(void *)((char *)scratch + %d)" % k.slopes if learns and k.columns else "NULL"},
        ${"(int16_t *)(void *)((char *)scratch + %d), %d" % (k.gathered, k.at_once) if learns and k.columns else "NULL, 0"},
        ${"(tilewright_code_reach *)(void *)((char *)scratch + %d)" % k.columns if back and k.columns else "NULL"}, 0u};
    tilewright_code_descend(&product, &descent, ${int(k.turned)});
% if back:
    dx_exponent[0] = exponent[0] + shift[0];
    next_shift[0] = tilewright_code_next_shift(shift[0], descent.seen);
% endif
}
