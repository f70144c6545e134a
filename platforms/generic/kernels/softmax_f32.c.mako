<%namespace name="parts" file="/exponential_f32.c.mako"/>\
<%
def at(name, step):
    return f"{name}[j * {step}]" if step > 1 else f"{name}[j]"
x = " + ".join(["x", *(times(f"i{n}", line.x) for n, line in enumerate(k.lines))])
y = " + ".join(["y", *(times(f"i{n}", line.y) for n, line in enumerate(k.lines))])
%>\
${k.attribute} TILEWRIGHT_SIDE_BY_SIDE ${f.storage} void ${f.name}_line(const float *x, float *y)
{
    float largest = x[0];
    for (int j = 1; j < ${k.length}; j++) {
        largest = ${at("x", k.x_step)} > largest ? ${at("x", k.x_step)} : largest;
    }
    TILEWRIGHT_EACH_ALONE
    for (int j = 0; j < ${k.length}; j++) {
        const float power = largest - ${at("x", k.x_step)};
        /* exp(-power) = 2^-whole * exp(-rest) */
${parts.exponential(k.exponential, "        ")}\
        ${at("y", k.y_step)} = power >= 0.0f ? scale * curve + scale : power;
    }
    float total = 0.0f;
    for (int j = 0; j < ${k.length}; j++) {
        total += ${at("y", k.y_step)};
    }
    const float share = 1.0f / total;
    for (int j = 0; j < ${k.length}; j++) {
        ${at("y", k.y_step)} *= share;
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
% for n, line in enumerate(k.lines):
    ${"    " * n}for (int i${n} = 0; i${n} < ${line.count}; i${n}++) {
% endfor
    ${"    " * len(k.lines)}${f.name}_line(${x}, ${y});
% for n in reversed(range(len(k.lines))):
    ${"    " * n}}
% endfor
}
