<%
q = k.quotient
%>\
/* Lines are shared among the cores; a line's codes lie tile->inner apart. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->lines, core + 1, cores);
    for (int line = tilewright_share(tile->lines, core, cores); line < end; line++) {
        const int first = line / tile->inner * tile->inner * ${k.length} + line % tile->inner;
        const ${k.x_type} *xr = x + first;
        ${k.y_type} *yr = y + first;
        int32_t largest = xr[0];
        for (int j = 1; j < ${k.length}; j++) {
            largest = xr[j * tile->inner] > largest ? xr[j * tile->inner] : largest;
        }
        uint64_t total = 0;
        for (int j = 0; j < ${k.length}; j++) {
            total += exponentials[largest - xr[j * tile->inner]];
        }
        const uint32_t multiplier = (uint32_t)(UINT64_C(${q.numerator}) / total);
        for (int j = 0; j < ${k.length}; j++) {
            const uint32_t power = exponentials[largest - xr[j * tile->inner]];
            const uint32_t word = (uint32_t)(((uint64_t)power * multiplier) >> 32) + ${q.half}u;
            uint32_t quotient = word >> ${q.shift};
            if (((word + 1) & ${(1 << q.shift) - 1}u) <= 1) { /* on a tie, or next to one */
                quotient = tilewright_softmax_exact((uint64_t)power * ${q.factor}u, total << ${q.fraction_bits},
                                                    ((word + 1) >> ${q.shift}) - 1);
            }
            int32_t code = (int32_t)quotient + (${q.zero_point});
% if q.low is not None:
            code = code < ${q.low} ? ${q.low} : code;
% endif
% if q.high is not None:
            code = code > ${q.high} ? ${q.high} : code;
% endif
            yr[j * tile->inner] = (${k.y_type})code;
        }
    }
}
