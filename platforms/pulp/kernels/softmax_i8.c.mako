<%
q = k.quotient
%>\
/* Lines are shared among the cores; a line's codes lie tile->inner apart. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->lines, core + 1, cores);
    for (int line = tilewright_share(tile->lines, core, cores); line < end; line++) {
% if k.sums:
#ifdef TILEWRIGHT_XPULP
        if (tile->inner == 1) {
            register const void *codes __asm__("a0") = x + line * ${k.length};
            register const void *power __asm__("a1") = exponentials;
            register uint32_t low __asm__("a3");
            register uint32_t high __asm__("a4");
            __asm__ volatile(
${k.sums}
                : "+r"(codes), "+r"(power), "=r"(low), "=r"(high) :
                : "memory", "a2", "a5", "a6", "t0", "t1", "t2", "t3");
            const void *const largest_power = power;
            const uint32_t line_multiplier = tilewright_softmax_multiplier(${q.numerator >> 30}u, ((uint64_t)high << 32) + low);
            register const void *from __asm__("a0") = x + line * ${k.length};
            register const void *peak __asm__("a1") = largest_power;
            register uint32_t factor __asm__("a2") = line_multiplier;
            register void *to __asm__("a3") = y + line * ${k.length};
            register int32_t nearest __asm__("a4") = ${(1 << q.shift) - 1};
            register int32_t addend __asm__("a5") = ${k.addend};
            register int32_t mask __asm__("a6") = ${(1 << q.shift) - 1};
            __asm__ volatile(
${k.shares}
                : "+r"(from), "+r"(to), "+r"(nearest)
                : "r"(peak), "r"(factor), "r"(addend), "r"(mask)
                : "memory", "a7", "t0", "t1", "t2", "t3", "t4", "t6");
            if (nearest != 0) {
                continue;
            } /* a share lies on a tie, or next to one: the line again, by divisions */
        }
#endif
% endif
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
        const uint32_t multiplier = tilewright_softmax_multiplier(${q.numerator >> 30}u, total);
        for (int j = 0; j < ${k.length}; j++) {
            const uint32_t power = exponentials[largest - xr[j * tile->inner]];
            const uint32_t word = (uint32_t)(((uint64_t)power * multiplier) >> 32) + ${q.half}u;
            uint32_t quotient = word >> ${q.shift};
            if ((word & ${(1 << q.shift) - 1}u) == 0u) { /* on a tie, or less than a unit beside it */
                quotient = tilewright_softmax_exact((uint64_t)power * ${q.factor}u, total << ${q.fraction_bits}, quotient - 1u);
            }
            int32_t code = (int32_t)quotient + (${q.zero_point});
            code = code < ${k.low} ? ${k.low} : code;
            code = code > ${k.high} ? ${k.high} : code;
            yr[j * tile->inner] = (${k.y_type})code;
        }
    }
}
