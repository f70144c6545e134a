<%
form, rows = k.form, k.form.rows
away = f"{rows.length} * (int32_t)from[i] - sum" if form.centred else f"(int32_t)from[i] - ({form.centre})"
%>\
<%def name="element(factor, addend)">\
const int32_t shifted = (int32_t)((uint32_t)(${away}) << room);
                int32_t code = tilewright_fixed_moved(tilewright_fixed_high(tilewright_fixed_high(shifted, root), ${factor}), shift) + ${addend};
                code >>= ${form.bits};
                code = code < ${form.low} ? ${form.low} : code;
                to[i] = (${k.y_type})(code > ${form.high} ? ${form.high} : code);
</%def>\
${f.storage} void ${f.name}(${f.parameters})
{
    for (int row = ${k.first}; row < ${k.end}; row++) {
<%
codes, results = ("from", "to") if rows.span == 1 else ("codes", "results")
square = f"(uint32_t)({codes}[i] * (int32_t){codes}[i])"
if k.x_type == "uint16_t":  # whose square has 32 bits
    square = f"(uint32_t){codes}[i] * {codes}[i]"
%>\
        const ${k.x_type} *const ${codes} = x + row * ${rows.length};
        ${k.y_type} *const ${results} = y + row * ${rows.length};
% if rows.sets > 1:
        const int32_t *const factor = factors + row % ${rows.sets} * ${rows.factors}, *const addend = addends + row % ${rows.sets} * ${rows.factors};
% else:
        const int32_t *const factor = factors, *const addend = addends;
% endif
        uint64_t squares = 0, total;
        int room, even, shift;
        int32_t root;
% if form.centred:
        int32_t sum = 0;
        for (int i = 0; i < ${rows.length}; i++) {
            sum += ${codes}[i];
            squares += ${square};
        }
        squares = squares * ${rows.length} - (uint64_t)((int64_t)sum * sum);
% else:
        for (int i = 0; i < ${rows.length}; i++) {
            const int32_t away = ${away.replace("from", codes)};
            squares += (uint64_t)((int64_t)away * away);
        }
% endif
        total = (squares << ${form.fraction_bits}) + ${form.epsilon}u;
        room = 31 - (tilewright_fixed_bits(squares) + ${form.spread_bits + 1}) / 2;
        room = room > 0 ? room : 0;
        root = (int32_t)tilewright_fixed_inverse_root(tilewright_fixed_upper(total != 0 ? total : 1, &even));
        shift = ${form.exponent} - room - even / 2 > -31 ? ${form.exponent} - room - even / 2 : -31;
% if rows.span == 1:
        for (int i = 0; i < ${rows.length}; i++) {
            {
                ${element("factor[i]", "addend[i]")}\
            }
        }
% else:
        for (int n = 0; n < ${rows.factors}; n++) {
            const ${k.x_type} *const from = codes + n * ${rows.span};
            ${k.y_type} *const to = results + n * ${rows.span};
            const int32_t part = factor[n], more = addend[n];
            for (int i = 0; i < ${rows.span}; i++) {
                ${element("part", "more")}\
            }
        }
% endif
    }
}
