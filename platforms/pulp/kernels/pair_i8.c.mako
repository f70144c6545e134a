/* Elements are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->rows * tile->columns, core + 1, cores);
    int i = tilewright_share(tile->rows * tile->columns, core, cores);
% if k.asm:
#ifdef TILEWRIGHT_XPULP
    if (end - i >= 2) {
        register const void *from0 __asm__("a0") = a + i;
        register const void *from1 __asm__("a1") = b + i;
        register void *to __asm__("a2") = y + i;
        register int turns __asm__("a3") = (end - i) / 2;
        register int left __asm__("a4") = ${k.left};
        register int right __asm__("a5") = ${k.right};
        register int addend __asm__("a6") = ${k.addend};
        i += turns * 2;
        __asm__ volatile(
${k.asm}
            : "+r"(from0), "+r"(from1), "+r"(to)
            : "r"(turns), "r"(left), "r"(right), "r"(addend)
            : "memory", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
    }
#endif
% endif
    for (; i < end; i++) {
        const ${k.word} e0 = a[i];
        const ${k.word} e1 = b[i];
        ${k.word} code = ${k.form};
        code = code < ${k.low} ? ${k.low} : code;
        code = code > ${k.high} ? ${k.high} : code;
        y[i] = (${k.y_type})code;
    }
}
