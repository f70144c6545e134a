<%
form = k.form
plain = (form.low, form.high) == (-128, 127) and 0 < form.shift < 32
step = 4 if k.listed else 8
whole = k.elements // step * step
sum_text = f"(a[{{0}}] - ({form.zero_points[0]})) * (b[{{0}}] - ({form.zero_points[1]})) * {form.left} + ({form.addend})" if form.product else f"a[{{0}}] * left + b[{{0}}] * right + ({form.addend})"
%>\
<%def name="one(at)">\
        {
            const int32_t word = ${sum_text.format(at)};
            int32_t code = ${f"tilewright_floor(word, {form.shift})" if form.ties == "up" else f"tilewright_tied(word, {form.shift}, {int(form.ties == 'odd')})"};
% if k.listed:
            if ((word & ${(1 << form.shift) - 1}) >= ${k.window}) {
                code += tilewright_listed(pairs, ${k.listed}, a[${at}], b[${at}]);
            }
% endif
% if plain:
            y[${at}] = (int8_t)tilewright_saturate(code);
% else:
            code = code < ${form.low} ? ${form.low} : code;
            y[${at}] = (int8_t)(code > ${form.high} ? ${form.high} : code);
% endif
        }
</%def>\
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
% if not form.product:
    const int32_t left = ${form.left};
    const int32_t right = ${form.right};
% endif
% if k.rounds > 1:
    const int8_t *const again = ${k.again};
    for (int round = 0; round < ${k.rounds}; round++) {
    ${k.again} = again;
% endif
% if whole:
    for (const int8_t *const end = y + ${whole}; y != end; a += ${step}, b += ${step}, y += ${step}) {
% for i in range(step):
${one(i)}\
% endfor
    }
% endif
% for i in range(k.elements - whole):
${one(i)}\
% endfor
% if k.rounds > 1:
% if k.elements - whole:
    a += ${k.elements - whole};
    b += ${k.elements - whole};
    y += ${k.elements - whole};
% endif
    }
% endif
}
