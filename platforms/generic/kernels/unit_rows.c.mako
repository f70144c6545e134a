${f.storage} void ${f.name}_line(const int8_t *x, int8_t *y)
{
    int32_t total = 0;
    for (int j = 0; j < ${k.length}; j++) {
        const int32_t centred = x[j * ${k.x_step}] - ${k.zero_text};
        total += centred * centred;
    }
    int right = 0;
    const int64_t root = tilewright_root_multiplier(total, &right);
    const int64_t multiplier = right < ${k.result_bits} ? root * (INT64_C(1) << (${k.result_bits} - right)) : root;
    right = right < ${k.result_bits} ? 0 : right - ${k.result_bits};
    for (int j = 0; j < ${k.length}; j++) {
        int32_t code = tilewright_rounded_twice(x[j * ${k.x_step}] - ${k.zero_text}, multiplier, right);
        code = code < -128 ? -128 : code;
        code = code > 127 ? 127 : code;
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
