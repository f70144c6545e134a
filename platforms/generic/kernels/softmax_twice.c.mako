${f.storage} void ${f.name}_line(const int8_t *x, ${k.y_type} *y, const uint32_t *exponentials)
{
    int32_t largest = x[0];
    for (int j = 1; j < ${k.length}; j++) {
        largest = x[j * ${k.x_step}] > largest ? x[j * ${k.x_step}] : largest;
    }
    uint32_t total = 0;
    for (int j = 0; j < ${k.length}; j++) {
        total += (exponentials[largest - x[j * ${k.x_step}]] + ${1 << k.total_shift - 1}u) >> ${k.total_shift};
    }
    int shift = ${k.exponent};
    for (int turn = 0; turn < 31 && total < UINT32_C(0x80000000); turn++) {
        total *= 2;
        shift--;
    }
    const uint32_t share = (uint32_t)tilewright_softmax_share(total);
    const uint64_t half = UINT64_C(1) << (shift - 1);
    for (int j = 0; j < ${k.length}; j++) {
        const uint32_t power = exponentials[largest - x[j * ${k.x_step}]];
        const uint64_t product = ((uint64_t)power * share + (UINT32_C(1) << 30)) >> 31;
        int32_t code = (int32_t)((product + half) >> shift) - ${-k.lowest};
% if k.low > k.lowest:
        code = code < ${k.low} ? ${k.low} : code;
% endif
        code = code > ${k.high} ? ${k.high} : code;
        y[j * ${k.y_step}] = (${k.y_type})code;
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
    ${"    " * len(k.lines)}${f.name}_line(${x}, ${y}, exponentials);
% for at in reversed(range(len(k.lines))):
    ${"    " * at}}
% endfor
}
