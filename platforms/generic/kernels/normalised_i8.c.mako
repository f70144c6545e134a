<%
form = k.form
half = (1 << form.result_bits - 1) - 1
away = f"{form.length} * (int32_t)from[i] - sum" if form.centred else f"(int32_t)from[i] - ({form.centre})"
addend = f" + (int64_t)addends[i] * {form.addend_unit}" if k.has_addends else ""
%>\
${f.storage} void ${f.name}(${f.parameters})
{
    for (int row = ${k.first}; row < ${k.end}; row++) {
        const ${k.x_type} *const from = x + row * ${form.length};
        ${k.y_type} *const to = y + row * ${form.length};
        int64_t squares = 0;
        uint32_t reciprocal = 0;
        int shift = ${form.shift};
% if form.centred:
        int32_t sum = 0;
        for (int i = 0; i < ${form.length}; i++) {
            sum += from[i];
            squares += (int32_t)from[i] * (int64_t)from[i];
        }
        squares = squares * ${form.length} - (int64_t)sum * sum;
% else:
        for (int i = 0; i < ${form.length}; i++) {
            const int32_t away = ${away};
            squares += (int64_t)away * away;
        }
% endif
        if (squares != 0) {
            uint32_t root = tilewright_normalised_root(((uint64_t)squares << ${form.fraction_bits}) + ${form.epsilon}u);
            while (root < 0x40000000u) {
                root <<= 1;
                shift--;
            }
            reciprocal = (uint32_t)(((uint64_t)1 << 60) / root);
        }
        for (int i = 0; i < ${form.length}; i++) {
            const int32_t part = (int32_t)(((int64_t)(${away}) * (int32_t)reciprocal + ((int64_t)1 << (shift - 1))) >> shift);
            const int64_t wide = (int64_t)part * factors[i]${addend};
            int32_t code = (int32_t)((wide + ${half} + (wide >> ${form.result_bits} & 1)) >> ${form.result_bits}) + (${form.zero_point});
            code = code < ${form.low} ? ${form.low} : code;
            code = code > ${form.high} ? ${form.high} : code;
            to[i] = (${k.y_type})code;
        }
    }
}
