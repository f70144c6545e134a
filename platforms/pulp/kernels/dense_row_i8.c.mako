<% q = k.requantise %>\
#ifdef TILEWRIGHT_XPULP
% for columns, text in k.texts:
static inline __attribute__((always_inline)) void ${f.name}_${columns}(const tilewright_column_walk *k)
{
    __asm__ volatile(
${text}
        : : [k] "m"(*k)
        : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "a0", "a1", "a2", "a3", "a4", "a5", "s0", "s1", "s2", "s3");
}

% endfor
#endif
/* Columns are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->columns, core + 1, cores);
    int n = tilewright_share(tile->columns, core, cores);
#ifdef TILEWRIGHT_XPULP
    while (n < end) {
        const int columns = end - n < 4 ? end - n : 4;
        const tilewright_column_walk k = {a, w + n * ${k.column_words}, (unsigned char *)(y + n)};
        if (columns == 4) {
            ${f.name}_4(&k);
        } else if (columns == 3) {
            ${f.name}_3(&k);
        } else if (columns == 2) {
            ${f.name}_2(&k);
        } else {
            ${f.name}_1(&k);
        }
        n += columns;
    }
#else
    for (; n < end; n++) {
        const int32_t *const column = w + n * ${k.column_words};
        const ${k.w_type} *const weights = (const ${k.w_type} *)(const void *)(column + 1);
        const int32_t *const numbers = column + ${1 + k.words};
        int32_t acc = column[0];
        for (int i = 0; i < ${k.depth}; i++) {
            acc += a[i] * weights[i];
        }
        int32_t code = ${q.c("acc", "numbers[0]", "numbers[1]", "numbers[2]") if q.own else q.c("acc", "numbers[0]")};
        code = code < ${q.form.low} ? ${q.form.low} : code;
        code = code > ${q.form.high} ? ${q.form.high} : code;
        y[n] = (${k.y_type})code;
    }
#endif
}
