<%namespace name="parts" file="/softmax_parts.c.mako"/>\
<%
q = k.quotient
def at(name, step, place):
    return f"{name}[{times('j', step)}{f' + {place * step}' if place else ''}]"
%>\
<%def name="larger(place)">\
        largest = ${at("x", k.x_step, place)} > largest ? ${at("x", k.x_step, place)} : largest;
</%def>\
<%def name="power(place)">exponentials[largest - ${at("x", k.x_step, place)}]</%def>\
<%def name="share(place)">\
        {
            const uint32_t power = ${power(place)};
            const uint32_t word = (uint32_t)(((uint64_t)power * multiplier) >> 32) + ${q.half}u;
            uint32_t code = word >> ${q.shift};
            if ((word & ${(1 << q.shift) - 1}u) == 0u) { /* on a tie, or less than a unit beside it */
                code = tilewright_softmax_exact((uint64_t)power * ${q.factor}u, total << ${q.fraction_bits}, code - 1u);
            }
${parts.stored(q, at("y", k.y_step, place), k.y_type, "            ")}\
        }
</%def>\
#if defined(__GNUC__)
__attribute__((noinline)) /* within the loops over lines its pointers would be loaded again and again */
#endif
${f.storage} void ${f.name}_line(const ${k.x_type} *x, ${k.y_type} *y, const uint32_t *exponentials)
{
    int32_t largest = x[0];
    uint64_t total = 0;
    uint32_t multiplier;
% for begin, end, step in k.rounds:
    for (int j = ${begin}; j < ${end}; j += ${step}) {
% for place in range(step):
${larger(place)}\
% endfor
    }
% endfor
% for begin, end, step in k.rounds:
    for (int j = ${begin}; j < ${end}; j += ${step}) {
% for place in range(0, step, 2):
% if place + 1 < step:
        total += ${power(place)} + ${power(place + 1)}; /* each is at most 2^30 */
% else:
        total += ${power(place)};
% endif
% endfor
    }
% endfor
    multiplier = tilewright_softmax_multiplier(${q.numerator >> 30}u, total);
% for begin, end, step in k.rounds:
    for (int j = ${begin}; j < ${end}; j += ${step}) {
% for place in range(step):
${share(place)}\
% endfor
    }
% endfor
}

${f.storage} void ${f.name}(${f.parameters})
{
<%
x = " + ".join(["x", *(times(f"i{at}", line.x) for at, line in enumerate(k.lines))])
y = " + ".join(["y", *(times(f"i{at}", line.y) for at, line in enumerate(k.lines))])
%>\
% for at, line in enumerate(k.lines):
    ${"    " * at}for (int i${at} = 0; i${at} < ${line.count}; i${at}++) {
% endfor
    ${"    " * len(k.lines)}${f.name}_line(${x}, ${y}, exponentials);
% for at in reversed(range(len(k.lines))):
    ${"    " * at}}
% endfor
}
