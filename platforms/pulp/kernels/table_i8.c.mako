/* Codes are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->rows * tile->columns, core + 1, cores);
    int i = tilewright_share(tile->rows * tile->columns, core, cores);
#ifdef TILEWRIGHT_XPULP
    if (end - i >= 4) {
        register const void *from __asm__("a0") = ${k.x} + i;
        register const void *zero __asm__("a1") = codes${f" + {k.zero}" if k.zero else ""};
        register void *to __asm__("a2") = ${k.y} + i;
        register int turns __asm__("a3") = (end - i) >> 2;
        i += turns * 4;
        __asm__ volatile(
${k.text}
            : "+r"(from), "+r"(to) : "r"(zero), "r"(turns) : "memory", "t0", "t1", "t2", "t3");
    }
#endif
    for (; i < end; i++) {
        ${k.y}[i] = codes[${k.x}[i]${f" + {k.zero}" if k.zero else ""}];
    }
}
