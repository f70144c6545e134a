<%doc>Sums of products of a line in halves with some others.</%doc>\
<%def name="sums(f, k)">\
<% lanes = range(k.lanes) %>\
/* Sums of a line's products with ${k.lanes} others, over 2^28; lowers' products are left out. */
TILEWRIGHT_HALVES_APART void ${f.name}_sums(const uint32_t *x, ${", ".join(f"const uint32_t *w{n}" for n in lanes)}, int64_t *sums)
{
    int64_t ${", ".join(f"s{n} = 0" for n in lanes)};
    for (int left = ${k.pairs}; left > 0; left -= 8) {
        const int count = left < 8 ? left : 8;
        int32_t ${", ".join(f"h{n} = 0, c{n} = 0" for n in lanes)};
#ifdef TILEWRIGHT_XPULP
        __asm__ volatile(
${k.text}
            : [x] "+&r"(x), ${", ".join(f'[w{n}] "+&r"(w{n})' for n in lanes)},
              ${", ".join(f'[h{n}] "+&r"(h{n}), [c{n}] "+&r"(c{n})' for n in lanes)}
            : [count] "r"(count)
            : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
#else
        for (int i = 0; i < count; i++) {
% for n in lanes:
            h${n} = tilewright_halves_dot(h${n}, x[0], w${n}[0]);
            c${n} = tilewright_halves_dot(c${n}, x[0], w${n}[1]);
            c${n} = tilewright_halves_dot(c${n}, x[1], w${n}[0]);
            w${n} = &w${n}[2];
% endfor
            x = &x[2];
        }
#endif
% for n in lanes:
        {
            const uint32_t moved = (uint32_t)c${n} + 0x80000000u;
            s${n} += (int64_t)h${n} + (int64_t)(moved >> 14) - 131072;
        }
% endfor
    }
% for n in lanes:
    sums[${n}] = s${n};
% endfor
}

/* Whether a sum that is small is known: its products together are 2^${k.margin} times what it may be off. */
TILEWRIGHT_HALVES_APART int ${f.name}_seen(const uint32_t *x, const uint32_t *w, uint32_t off)
{
    int32_t sum = 0;
#ifdef TILEWRIGHT_XPULP
    const int32_t count = ${k.part_words};
    __asm__ volatile(
${k.seen}
        : [x] "+&r"(x), [w] "+&r"(w), [sum] "+&r"(sum)
        : [count] "r"(count)
        : "memory", "t0", "t1", "t2");
#else
    for (int i = 0; i < ${k.part_words}; i++) {
        sum = tilewright_dot(sum, x[i], w[i]);
    }
#endif
    return (uint32_t)sum << ${20 - k.margin} >= off ? 1 : 0;
}
</%def>\
