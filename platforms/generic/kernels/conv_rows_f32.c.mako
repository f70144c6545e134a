<%
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
r = k.row
%>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_product row = {
        ${r.images}, ${r.groups}, ${r.channels}, ${r.results}, ${", ".join(listed(pair) for pair in r.pairs)},
        ${listed(r.x)}, ${listed(r.y)}};
    static const tilewright_row_copies copies = {
        ${k.images}, ${k.rows}, ${k.size}, ${k.stride}, ${k.begin}, ${listed(k.x)}, ${r.y[0]}};
    float *const window = (float *)scratch + ${k.window};
    const tilewright_gathering gathering = {
        0, ${int(r.beside)}, ${int(r.rectified)}, ${int(r.open)}, ${r.at_once}, ${r.low}, ${r.high}, window, w, ${"b" if r.bias else "NULL"}, y, scratch};
    tilewright_convolve_rows(&gathering, &row, &copies, x, window);
}
