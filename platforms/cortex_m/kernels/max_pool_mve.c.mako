<%
vector = f"{'' if k.sign == 's' else 'u'}int{k.bits}x{k.at_once}_t"
suffix = f"{k.sign}{k.bits}"
letter = "b" if k.bits == 8 else "h"
%>\
TILEWRIGHT_MVE void ${f.name}(${f.parameters})
{
    for (int oy = 0; oy < ${k.h.out}; oy++) {
        const int top = ${plus(times("oy", k.h.stride), -k.h.pad)};
        const int first = top < 0 ? 0 : top;
        const int rows = (top + ${k.h.kernel} < ${k.h.size} ? top + ${k.h.kernel} : ${k.h.size}) - first;
        for (int ox = 0; ox < ${k.w.out}; ox++) {
            const int left = ${plus(times("ox", k.w.stride), -k.w.pad)};
            const int start = left < 0 ? 0 : left;
            const int columns = (left + ${k.w.kernel} < ${k.w.size} ? left + ${k.w.kernel} : ${k.w.size}) - start;
            const ${k.code} *const corner = x + (first * ${k.w.size} + start) * ${k.channels};
            for (int c = 0; c < ${k.channels}; c += ${k.at_once}) {
                const mve_pred16_t some = vctp${k.bits}q(${k.channels}u - (uint32_t)c);
                const ${k.code} *row = corner + c;
                ${vector} largest = vldr${letter}q_z_${suffix}(row, some);
                for (int r = rows; r > 0; r--) {
                    const ${k.code} *tap = row;
                    for (int t = columns; t > 0; t--) {
                        largest = vmaxq_${suffix}(largest, vldr${letter}q_z_${suffix}(tap, some));
                        tap += ${k.channels};
                    }
                    row = &row[${k.w.size * k.channels}];
                }
                vstr${letter}q_p_${suffix}(y + c, largest, some);
            }
            y += ${k.channels};
        }
    }
}
