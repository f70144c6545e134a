TILEWRIGHT_EACH_ROUNDED ${f.storage} void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
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
                const ${k.real} c = ${k.angle_of(f"cos_cache[position * {k.half} + i]")};
                const ${k.real} s = ${k.angle_of(f"sin_cache[position * {k.half} + i]")};
                const ${k.real} a = ${k.real_of("x[one]")}, b = ${k.real_of("x[two]")};
                y[one] = ${k.element_of("c * a - s * b")};
                y[two] = ${k.element_of("s * a + c * b")};
            }
            for (int i = ${k.turned}; i < ${k.depth}; i++) {
                y[first + i] = x[first + i];
            }
        }
    }
}
