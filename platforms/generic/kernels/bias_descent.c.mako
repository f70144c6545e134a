<%
loops = ["i%d" % at for at in range(len(k.outer))]
place = " + ".join(["channel * %d" % k.step] + ["%s * %d" % (name, step) for name, (_, step) in zip(loops, k.outer)])
%>\
static void ${f.name}(${f.parameters})
{
    const int32_t bits = ${k.places} - exponent[0];
    for (int channel = 0; channel < ${k.channels}; channel++) {
        int32_t sum = 0;
        int64_t step, moved;
% for at, (size, _) in enumerate(k.outer):
${"    " * (at + 2)}for (int i${at} = 0; i${at} < ${size}; i${at}++) {
% endfor
${"    " * (len(k.outer) + 2)}sum += codes[${place}];
% for at in reversed(range(len(k.outer))):
${"    " * (at + 2)}}
% endfor
        step = (int64_t)sum * rates[channel];
        if (bits > 0) {
            step = tilewright_down_wide(step + (INT64_C(1) << ((bits < 62 ? bits : 62) - 1)), bits < 62 ? bits : 62);
        } else {
            const int32_t left = bits > -31 ? -bits : 31;
            const int64_t most = ${k.limit} >> left;
            step = step > most ? ${2 * k.limit} : step < -most ? -${2 * k.limit} : step * (INT64_C(1) << left);
        }
        moved = ${k.bias}[channel] - step;
        next[channel] = (int32_t)(moved > ${k.limit} ? ${k.limit} : moved < -${k.limit} ? -${k.limit} : moved);
    }
}
