<%
rows = k.rows
places = "-(int)place[2 * n + 1]" if k.places else -k.bits
%>\
static void ${f.name}(${f.parameters})
{
    for (int row = 0; row < ${rows.count}; row++) {
        const float *const from = x + row * ${rows.length};
        float *const to = y + row * ${rows.length};
% if rows.sets > 1:
        const int32_t *const factor = factors + row % ${rows.sets} * ${rows.factors}, *const addend = addends + row % ${rows.sets} * ${rows.factors};
% if k.places:
        const int8_t *const place = places + row % ${rows.sets} * ${2 * rows.factors};
% endif
% else:
        const int32_t *const factor = factors, *const addend = addends;
% if k.places:
        const int8_t *const place = places;
% endif
% endif
        const uint32_t largest = tilewright_whole_largest(from, ${rows.length}), top = largest >> 23;
        uint64_t total = 0;
        int shift, bits, even;
        int32_t root;
        if (top == 255u) { /* what is no number or infinite leaves none */
            for (int i = 0; i < ${rows.length}; i++) {
                tilewright_whole_store(to + i, 0x7FC00000);
            }
            continue;
        }
% if k.centred:
        {
            int64_t sum = 0;
            uint32_t seen = 0;
            int32_t mean;
            for (int i = 0; i < ${rows.length}; i++) {
                const int32_t value = tilewright_whole_of(tilewright_whole_bits(from + i), top);
                sum += value;
                tilewright_whole_store(to + i, value);
            }
            mean = (int32_t)tilewright_fixed_down(tilewright_fixed_down(sum, ${k.length_bits}) * ${k.share}, 30);
            sum -= (int64_t)mean * ${rows.length}; /* the nearest one, so that nothing is left of a row that is all alike */
            for (; sum > ${rows.length // 2}; sum -= ${rows.length}) {
                mean++;
            }
            for (; sum < -${rows.length // 2}; sum += ${rows.length}) {
                mean--;
            }
            for (int i = 0; i < ${rows.length}; i++) {
                const int32_t value = tilewright_whole_load(to + i) - mean;
                seen |= (uint32_t)(value < 0 ? ~value : value);
                tilewright_whole_store(to + i, value);
            }
            shift = tilewright_fixed_room(seen);
        }
% else:
        for (int i = 0; i < ${rows.length}; i++) {
            tilewright_whole_store(to + i, tilewright_whole_of(tilewright_whole_bits(from + i), top));
        }
        shift = 1;
% endif
        shift = shift < ${k.most_shift} + (int)top ? shift : ${k.most_shift} + (int)top;
        shift = shift > -31 ? shift : -31;
        for (int i = 0; i < ${rows.length}; i++) {
            const int32_t value = tilewright_fixed_moved(tilewright_whole_load(to + i), shift);
            total += (uint32_t)tilewright_fixed_high(value, value);
        }
        bits = ${k.epsilon_exponent} + 2 * (shift - (int)top);
        total += bits >= 0 ? (uint64_t)${k.epsilon}u << (bits < 30 ? (uint32_t)bits : 30u) : bits > -31 ? (uint64_t)${k.epsilon}u >> (uint32_t)-bits : 0u;
        root = (int32_t)tilewright_fixed_inverse_root(tilewright_fixed_upper(total != 0u ? total : 1u, &even));
% if not k.places:
        bits = ${k.exponent} - even / 2 > -31 ? ${k.exponent} - even / 2 : -31;
% endif
        for (int n = 0; n < ${rows.factors}; n++) {
            const int32_t part = factor[n], more = addend[n];
% if k.places:
            bits = (int)place[2 * n] - even / 2 > -31 ? (int)place[2 * n] - even / 2 : -31;
% endif
% if rows.span > 1:
            float *const at = to + n * ${rows.span};
            for (int i = 0; i < ${rows.span}; i++) {
                const int32_t value = tilewright_fixed_moved(tilewright_whole_load(at + i), shift);
                const int32_t result = tilewright_fixed_moved(tilewright_fixed_high(tilewright_fixed_high(value, root), part), bits) + more;
                tilewright_whole_store(at + i, (int32_t)tilewright_whole_float(result, ${places}));
            }
% else:
            const int32_t value = tilewright_fixed_moved(tilewright_whole_load(to + n), shift);
            const int32_t result = tilewright_fixed_moved(tilewright_fixed_high(tilewright_fixed_high(value, root), part), bits) + more;
            tilewright_whole_store(to + n, (int32_t)tilewright_whole_float(result, ${places}));
% endif
        }
    }
}
