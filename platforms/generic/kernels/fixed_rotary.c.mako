<% sizes = k.sizes %>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${sizes.batch * sizes.steps}; row++) {
% if sizes.positions:
        const int position = tilewright_index((int64_t)position_ids[row], ${sizes.positions});
% else:
        const int position = row;
% endif
        for (int head = 0; head < ${sizes.heads}; head++) {
            const int first = row / ${sizes.steps} * ${sizes.batch_step} + row % ${sizes.steps} * ${sizes.step_step} + head * ${sizes.head_step};
            for (int i = 0; i < ${sizes.half}; i++) {
                const int one = first + ${"2 * i" if sizes.pairs else "i"};
                const int two = one + ${1 if sizes.pairs else sizes.half};
                const int32_t c = cos_cache[position * ${sizes.half} + i], s = sin_cache[position * ${sizes.half} + i];
                const int32_t a = x[one], b = x[two];
                y[one] = ${k.result("ac", "bs", "-")};
                y[two] = ${k.result("as", "bc", "+")};
            }
% if sizes.turned < sizes.depth:
            for (int i = ${sizes.turned}; i < ${sizes.depth}; i++) {
                y[first + i] = ${k.other};
            }
% endif
        }
    }
}
