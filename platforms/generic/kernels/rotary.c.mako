static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.batch * k.steps}; row++) {
% if k.positions:
        const int position = tilewright_index((int64_t)position_ids[row], ${k.positions});
% else:
        const int position = row;
% endif
        for (int head = 0; head < ${k.heads}; head++) {
            const int first = row / ${k.steps} * ${k.batch_step} + row % ${k.steps} * ${k.step_step} + head * ${k.head_step};
            for (int i = 0; i < ${k.half}; i++) {
                const int one = first + ${"2 * i" if k.pairs else "i"};
                const int two = one + ${1 if k.pairs else k.half};
                const ${k.real} c = cos_cache[position * ${k.half} + i], s = sin_cache[position * ${k.half} + i];
                const ${k.real} a = x[one], b = x[two];
                y[one] = (${k.c_type})(c * a - s * b);
                y[two] = (${k.c_type})(s * a + c * b);
            }
            for (int i = ${k.turned}; i < ${k.depth}; i++) {
                y[first + i] = x[first + i];
            }
        }
    }
}
