<% form = k.form %>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${k.rows}; row++) {
        const int32_t *const from = x + row * ${form.length};
        int32_t *const to = y + row * ${form.length};
        int room = tilewright_fixed_row_room(from, ${form.length});
        uint64_t total = 0;
        int bits, even, away;
        int32_t root;
        room = room < ${form.most_shift} ? room : ${form.most_shift};
% if form.centred:
        {
            int64_t sum = 0;
            int32_t mean;
            int more;
            room = room > 1 ? room - 1 : 0;
            for (int i = 0; i < ${form.length}; i++) {
                to[i] = (int32_t)((uint32_t)from[i] << room);
                sum += to[i];
            }
            mean = (int32_t)tilewright_fixed_down(tilewright_fixed_down(sum, ${form.length_bits}) * ${form.share}, 30);
            for (int i = 0; i < ${form.length}; i++) {
                to[i] -= mean;
            }
            more = tilewright_fixed_row_room(to, ${form.length});
            more = more < ${form.most_shift} - room ? more : ${form.most_shift} - room;
            for (int i = 0; i < ${form.length}; i++) {
                to[i] = (int32_t)((uint32_t)to[i] << more);
                total += (uint32_t)tilewright_fixed_high(to[i], to[i]);
            }
            room += more;
        }
% else:
        for (int i = 0; i < ${form.length}; i++) {
            to[i] = (int32_t)((uint32_t)from[i] << room);
            total += (uint32_t)tilewright_fixed_high(to[i], to[i]);
        }
% endif
        bits = ${form.epsilon_exponent} + 2 * room;
        total += bits >= 0 ? (uint64_t)${form.epsilon}u << (uint32_t)bits : bits > -31 ? (uint64_t)${form.epsilon}u >> (uint32_t)-bits : 0u;
        total = total != 0u ? total : 1u;
        root = (int32_t)tilewright_fixed_inverse_root(tilewright_fixed_upper(total, &even));
        away = ${form.exponent} - even / 2 > -31 ? ${form.exponent} - even / 2 : -31;
        for (int i = 0; i < ${form.length}; i++) {
            const int32_t part = tilewright_fixed_high(tilewright_fixed_high(to[i], root), factors[i]);
            to[i] = tilewright_fixed_moved(part, away)${" + addends[i]" if form.addends.size else ""};
        }
    }
}
