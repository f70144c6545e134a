<%
per_word = 32 // k.bits
words = k.at_once // per_word
%>\
TILEWRIGHT_INTO uint32_t ${f.name}_larger(uint32_t a, uint32_t b)
{
    uint32_t difference;
    __asm__("${k.sign}sub${k.bits} %1, %0, %2\n\tsel %0, %0, %2" : "+r"(a), "=&r"(difference) : "r"(b) : "cc");
    return a;
}

/* Channels in words; the last ones lie over those before them where the number is no multiple. */
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
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
            for (int i = 0; i < ${k.channels}; i += ${k.at_once}) {
                const int c = i < ${k.channels - k.at_once} ? i : ${k.channels - k.at_once};
                const ${k.code} *row = corner + c;
% for n in range(words):
                uint32_t largest${n} = tilewright_load(${plus("row", n * per_word)});
% endfor
% if k.taps:
                if (rows == ${k.h.kernel} && columns == ${k.w.kernel}) {
% for tap in k.taps[1:]:
% for n in range(words):
                    largest${n} = ${f.name}_larger(largest${n}, tilewright_load(${plus("row", tap + n * per_word)}));
% endfor
% endfor
% for n in range(words):
                    tilewright_put(y + ${plus("c", n * per_word)}, largest${n});
% endfor
                    continue;
                }
% endif
                for (int r = rows; r > 0; r--) {
                    const ${k.code} *tap = row;
                    for (int t = columns; t > 0; t--) {
% for n in range(words):
                        largest${n} = ${f.name}_larger(largest${n}, tilewright_load(${plus("tap", n * per_word)}));
% endfor
                        tap += ${k.channels};
                    }
                    row = &row[${k.w.size * k.channels}];
                }
% for n in range(words):
                tilewright_put(y + ${plus("c", n * per_word)}, largest${n});
% endfor
            }
            y += ${k.channels};
        }
    }
}
