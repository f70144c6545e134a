<%
form = k.form
whole = k.elements // 4 * 4
zeros = form.zero_points
shift = form.shift
%>\
<%def name="one(at)">\
        {
            const int32_t first = a[${at}];
            const int32_t second = b[${at}];
% if form.product:
            const int32_t product = (${plus("first", -zeros[0])}) * (${plus("second", -zeros[1])});
            const int64_t word = tilewright_add_product(INT64_C(${form.addend}), product, left);
% else:
            const int64_t word = tilewright_add_product(tilewright_add_product(INT64_C(${form.addend}), second, right), first, left);
% endif
% if shift == 32:
            int32_t code = tilewright_upper(word);
            const uint32_t rest = (uint32_t)word;
% elif shift < 32:
            int32_t code = (int32_t)(uint32_t)((uint64_t)word >> ${shift});
            const uint32_t rest = (uint32_t)word << ${32 - shift};
% else:
            int32_t code = tilewright_floor(tilewright_upper(word), ${shift - 32}u);
            const uint32_t rest = (uint32_t)((uint64_t)word >> ${shift - 32});
% endif
            if (rest + ${k.window}u < ${2 * k.window}u) {
                code = tilewright_near_a_tie(code, rest, ${plus("first", -zeros[0])}, ${plus("second", -zeros[1])}, numbers);
            }
            y[${at}] = (${k.y_type})(${k.limited});
        }
</%def>\
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    const int32_t left = ${form.left};
% if not form.product:
    const int32_t right = ${form.right};
% endif
% if k.rounds > 1:
    const ${k.a_type if k.again == "a" else k.b_type} *const again = ${k.again};
    for (int round = 0; round < ${k.rounds}; round++) {
    ${k.again} = again;
% endif
% if whole:
    for (const ${k.y_type} *const end = y + ${whole}; y != end; a += 4, b += 4, y += 4) {
% for i in range(4):
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
