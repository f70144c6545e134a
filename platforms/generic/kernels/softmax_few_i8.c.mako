<%namespace name="parts" file="/softmax_parts.c.mako"/>\
<%
p, q = k.portable, k.quotient
every = range(p.length)
def at(name, step, place):
    return f"{name}[{place * step}]"
offsets = ["", ""]
for i, name in enumerate("xy"):
    offsets[i] = " + ".join([name, *(times(f"i{n}", getattr(line, name)) for n, line in enumerate(p.lines))])
deep = "    " * len(p.lines)
total = "uint64_t" if k.wide else "uint32_t"
%>\
${f.storage} void ${f.name}_line(const ${p.x_type} *x, ${p.y_type} *y, const uint32_t *exponentials)
{
    int32_t largest = x[0];
% for place in every[1:]:
    largest = ${at("x", p.x_step, place)} > largest ? ${at("x", p.x_step, place)} : largest;
% endfor
% for place in every:
    const uint32_t power${place} = exponentials[largest - ${at("x", p.x_step, place)}];
% endfor
    const ${total} total = ${"(uint64_t)" if k.wide else ""}${" + ".join(f"power{place}" for place in every)}; /* each is at most 2^30 */
    const uint32_t multiplier = ${k.scale}u * (0xFFFFFFFFu / (uint32_t)(total >> 14) + 1u); /* too large by less than 2^-14 of it */
% for place in every:
    {
        const uint32_t word = (uint32_t)(((uint64_t)power${place} * multiplier) >> 32) + ${q.half}u;
        uint32_t code = word >> ${q.shift};
        if ((word & ${(1 << q.shift) - 1}u) < ${k.window}u) { /* on a tie, or a little beside it */
            code = tilewright_softmax_exact((uint64_t)power${place} * ${q.factor}u, (uint64_t)total << ${q.fraction_bits}, code - 1u);
        }
${parts.stored(q, at("y", p.y_step, place), p.y_type, "        ")}\
    }
% endfor
}

${f.storage} void ${f.name}(${f.parameters})
{
% for n, line in enumerate(p.lines):
    ${"    " * n}for (int i${n} = 0; i${n} < ${line.count}; i${n}++) {
% endfor
    ${deep}${f.name}_line(${offsets[0]}, ${offsets[1]}, exponentials);
% for n in reversed(range(len(p.lines))):
    ${"    " * n}}
% endfor
}
