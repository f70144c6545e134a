<% p = k.pair %>\
/* Elements are shared among the cores, row by row. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->rows * tile->columns, core + 1, cores);
    int i = tilewright_share(tile->rows * tile->columns, core, cores);
    int column = i % tile->columns;
    while (i < end) {
        const int rest = tile->columns - column, stop = end - i < rest ? end : i + rest;
% if p.asm:
#ifdef TILEWRIGHT_XPULP
        if (stop - i >= 2) {
            register const void *from0 __asm__("a0") = a + ${k.a_at};
            register const void *from1 __asm__("a1") = b + ${k.b_at};
            register void *to __asm__("a2") = y + i;
            register int turns __asm__("a3") = (stop - i) >> 1;
            register int left __asm__("a4") = ${p.left};
            register int right __asm__("a5") = ${p.right};
            register int addend __asm__("a6") = ${p.addend};
            i += turns * 2;
            column += turns * 2;
            __asm__ volatile(
${p.asm}
                : "+r"(from0), "+r"(from1), "+r"(to)
                : "r"(turns), "r"(left), "r"(right), "r"(addend)
                : "memory", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
        }
#endif
% endif
        for (; i < stop; i++) {
            const ${p.word} e0 = a[${k.a_at}];
            const ${p.word} e1 = b[${k.b_at}];
            ${p.word} code = ${p.form};
            code = code < ${p.low} ? ${p.low} : code;
            code = code > ${p.high} ? ${p.high} : code;
            y[i] = (${p.y_type})code;
            column++;
        }
        column = 0;
    }
}
