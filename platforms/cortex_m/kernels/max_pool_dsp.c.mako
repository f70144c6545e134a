TILEWRIGHT_INTO uint32_t ${f.name}_larger(uint32_t a, uint32_t b)
{
    uint32_t larger;
    __asm__("${k.sign}sub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(larger) : "r"(a), "r"(b) : "cc");
    return larger;
}

/* Channels in fours; the last four lie over those before them where the number is no multiple. */
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
            for (int i = 0; i < ${k.channels}; i += 4) {
                const int c = i < ${k.channels - 4} ? i : ${k.channels - 4};
                const ${k.code} *row = corner + c;
                uint32_t largest = tilewright_load(row);
                for (int r = rows; r > 0; r--) {
                    const ${k.code} *tap = row;
                    for (int t = columns; t > 0; t--) {
                        largest = ${f.name}_larger(largest, tilewright_load(tap));
                        tap += ${k.channels};
                    }
                    row += ${k.w.size * k.channels};
                }
                tilewright_put(y + c, largest);
            }
            y += ${k.channels};
        }
    }
}
