<%
q = k.quotient
%>\
${f.storage} void ${f.name}_line(const ${k.x_type} *x, ${k.y_type} *y, const uint32_t *exponentials)
{
    int32_t largest = x[0];
    for (int j = 1; j < ${k.length}; j++) {
        largest = x[${times("j", k.x_step)}] > largest ? x[${times("j", k.x_step)}] : largest;
    }
    uint64_t total = 0;
    for (int j = 0; j < ${k.length}; j++) {
        total += exponentials[largest - x[${times("j", k.x_step)}]];
    }
    const uint32_t multiplier = (uint32_t)(UINT64_C(${q.numerator}) / total);
    for (int j = 0; j < ${k.length}; j++) {
        const uint32_t power = exponentials[largest - x[${times("j", k.x_step)}]];
        const uint32_t word = (uint32_t)(((uint64_t)power * multiplier) >> 32) + ${q.half}u;
        uint32_t quotient = word >> ${q.shift};
        if (((word + 1u) & ${(1 << q.shift) - 1}u) <= 1u) { /* on a tie, or next to one */
            quotient = tilewright_softmax_exact((uint64_t)power * ${q.factor}u, total << ${q.fraction_bits},
                                                ((word + 1u) >> ${q.shift}) - 1u);
        }
        int32_t code = (int32_t)quotient + (${q.zero_point});
% if q.low is not None:
        code = code < ${q.low} ? ${q.low} : code;
% endif
% if q.high is not None:
        code = code > ${q.high} ? ${q.high} : code;
% endif
        y[${times("j", k.y_step)}] = (${k.y_type})code;
    }
}

${f.storage} void ${f.name}(${f.parameters})
{
<%
x = " + ".join(["x", *(times(f"i{at}", line.x) for at, line in enumerate(k.lines))])
y = " + ".join(["y", *(times(f"i{at}", line.y) for at, line in enumerate(k.lines))])
%>\
% for at, line in enumerate(k.lines):
    ${"    " * at}for (int i${at} = 0; i${at} < ${line.count}; i${at}++)
% endfor
    ${"    " * len(k.lines)}${f.name}_line(${x}, ${y}, exponentials);
}
