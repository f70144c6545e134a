${f.storage} void ${f.name}_line(const int16_t *x, int16_t *y, const int16_t *exponentials, const int16_t *inverses)
{
    int32_t largest = x[0];
    for (int j = 1; j < ${k.length}; j++) {
        largest = x[j * ${k.x_step}] > largest ? x[j * ${k.x_step}] : largest;
    }
    int32_t total = 0;
    for (int j = 0; j < ${k.length}; j++) {
        int32_t code = tilewright_rounded_twice(x[j * ${k.x_step}] - largest, ${k.multiplier}, ${k.right}) + 32767;
        code = code < -32768 ? -32768 : code;
        y[j * ${k.y_step}] = (int16_t)tilewright_on_line(exponentials, code);
        total += y[j * ${k.y_step}];
    }
    uint32_t fraction = (uint32_t)total;
    int shift = 31;
    for (int turn = 0; turn < 31 && fraction < UINT32_C(0x80000000); turn++) {
        fraction *= 2;
        shift--;
    }
    int32_t place = (int32_t)(((fraction >> 1) + 8192u) >> 14) - 98304;
    place = place > 32767 ? 32767 : place;
    const int64_t share = tilewright_on_line(inverses, place), half = INT64_C(1) << (shift - 1);
    for (int j = 0; j < ${k.length}; j++) {
        const int64_t code = (y[j * ${k.y_step}] * share + half) >> shift;
        y[j * ${k.y_step}] = (int16_t)(code > ${k.high} ? ${k.high} : code < ${k.low} ? ${k.low} : code);
    }
}

<%
x = " + ".join(["x", *(f"i{at} * {line.x}" for at, line in enumerate(k.lines))])
y = " + ".join(["y", *(f"i{at} * {line.y}" for at, line in enumerate(k.lines))])
%>\
${f.storage} void ${f.name}(${f.parameters})
{
% for at, line in enumerate(k.lines):
    ${"    " * at}for (int i${at} = 0; i${at} < ${line.count}; i${at}++) {
% endfor
    ${"    " * len(k.lines)}${f.name}_line(${", ".join([x, y, *k.tables])});
% for at in reversed(range(len(k.lines))):
    ${"    " * at}}
% endfor
}
