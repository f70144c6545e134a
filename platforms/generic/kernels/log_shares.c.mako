${f.storage} void ${f.name}_line(const int8_t *x, int8_t *y, const uint32_t *exponentials, const int32_t *logarithms)
{
    int32_t largest = x[0];
    for (int j = 1; j < ${k.length}; j++) {
        largest = x[j * ${k.x_step}] > largest ? x[j * ${k.x_step}] : largest;
    }
    uint32_t total = 0;
    for (int j = 0; j < ${k.length}; j++) {
        total += (exponentials[largest - x[j * ${k.x_step}]] + ${1 << k.total_shift - 1}u) >> ${k.total_shift};
    }
    const int32_t logarithm = tilewright_logarithm(total);
    int32_t lowest = tilewright_rounded_twice(logarithm + INT32_MIN, ${k.multiplier}, ${k.right});
    lowest = lowest < ${-k.radius - 1} ? ${-k.radius - 1} : lowest;
    for (int j = 0; j < ${k.length}; j++) {
        const int32_t difference = largest - x[j * ${k.x_step}];
        int32_t code = -128;
        if (-difference > lowest) {
            code = tilewright_rounded_over((int64_t)logarithms[difference] - logarithm, ${k.result_shift}) + 127;
            code = code < -128 ? -128 : code;
            code = code > 127 ? 127 : code;
        }
        y[j * ${k.y_step}] = (int8_t)code;
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
