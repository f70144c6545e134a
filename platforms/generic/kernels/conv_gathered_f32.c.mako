<%
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
%>\
static void ${f.name}(${f.parameters})
{
    static const tilewright_product product = {
        ${k.images}, ${k.groups}, ${k.channels}, ${k.results}, ${", ".join(listed(pair) for pair in k.pairs)},
        ${listed(k.x)}, ${listed(k.y)}};
    const tilewright_gathering gathering = {
        ${int(k.direct)}, ${int(k.beside)}, ${int(k.rectified)}, ${int(k.open)}, ${k.at_once}, ${k.low}, ${k.high}, x, w, ${"b" if k.bias else "NULL"}, y, scratch};
    tilewright_convolve(&gathering, &product);
}
