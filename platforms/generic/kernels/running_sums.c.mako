<%
place = f"({k.length - 1} - j)" if k.reverse else "j"
%>\
${f.storage} void ${f.name}_line(const int8_t *x, int8_t *y)
{
    int32_t sum = ${-k.zero_point};
    for (int j = 0; j < ${k.length}; j++) {
        const int32_t centred = x[${place} * ${k.x_step}] - ${k.zero_text};
% if not k.exclusive:
        sum += centred;
% endif
        int32_t code = tilewright_rounded_twice(sum * (INT32_C(1) << ${k.fraction_bits}), ${k.multiplier}, ${k.right}) + ${k.target_text};
        code = code < -128 ? -128 : code;
        code = code > 127 ? 127 : code;
        y[${place} * ${k.y_step}] = (int8_t)code;
% if k.exclusive:
        sum += centred;
% endif
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
