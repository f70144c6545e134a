${f.storage} int ${f.name}_before(${k.c_type} a, ${k.c_type} b)
{
    return ${k.before};
}

${f.storage} int ${f.name}_order(const ${k.c_type} *x, int one, int other)
{
    for (int outer = 0; outer < ${k.outer}; outer++) {
        for (int inner = 0; inner < ${k.inner}; inner++) {
            const ${k.c_type} a = x[(outer * ${k.size} + one) * ${k.inner} + inner];
            const ${k.c_type} b = x[(outer * ${k.size} + other) * ${k.inner} + inner];
            if (${f.name}_before(a, b)) {
                return -1;
            }
            if (${f.name}_before(b, a)) {
                return 1;
            }
        }
    }
    return 0;
}

/* The rank of slice i among the first places of values; where it is none of them, ${"the rank that it takes" if k.ordered else "the next one"}. */
${f.storage} int ${f.name}_rank(const ${k.c_type} *x, const ${k.place} *first, int values, int i)
{
% if k.ordered:
    int low = 0;
    int high = values;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (${f.name}_order(x, (int)first[middle], i) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
% else:
    int rank = 0;
    while (rank < values && ${f.name}_order(x, (int)first[rank], i) != 0) {
        rank++;
    }
    return rank;
% endif
}

${f.storage} void ${f.name}(${f.parameters})
{
    ${k.place} *const first = (${k.place} *)scratch;
    int values = 0;
    for (int i = 0; i < ${k.size}; i++) {
        const int rank = ${f.name}_rank(x, first, values, i);
        if (rank == values || ${f.name}_order(x, (int)first[rank], i) != 0) {
            for (int behind = values; behind > rank; behind--) {
                first[behind] = first[behind - 1];
            }
            first[rank] = (${k.place})i;
            values++;
        }
    }
    const int kept = values < ${k.bound} ? values : ${k.bound};
    for (int i = 0; i < ${k.bound}; i++) {
        for (int outer = 0; outer < ${k.outer}; outer++) {
            for (int inner = 0; inner < ${k.inner}; inner++) {
                const int at = (outer * ${k.bound} + i) * ${k.inner} + inner;
                if (i < kept) {
                    y[at] = x[(outer * ${k.size} + (int)first[i]) * ${k.inner} + inner];
                } else {
                    y[at] = 0;
                }
            }
        }
% if k.indices:
        indices[i] = i < kept ? (int64_t)first[i] : 0;
% endif
% if k.counts:
        counts[i] = 0;
% endif
    }
% if k.inverse or k.counts:
    for (int i = 0; i < ${k.size}; i++) {
        const int rank = ${f.name}_rank(x, first, values, i);
% if k.inverse:
        inverse_indices[i] = rank;
% endif
% if k.counts:
        if (rank < kept) {
            counts[rank]++;
        }
% endif
    }
% endif
    count[0] = kept;
}
