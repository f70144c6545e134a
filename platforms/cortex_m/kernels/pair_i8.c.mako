<%
plain = (k.low, k.high) == (-128, 127) and 0 < k.shift < 32
whole = k.elements // 8 * 8
%>\
<%def name="one(at)">
<% value = f"a[{at}] * left + b[{at}] * right + ({k.addend})" %>\
% if plain:
        y[${at}] = (int8_t)tilewright_saturate((${value}) >> ${k.shift});
% else:
        {
            int32_t code = (${value}) >> ${k.shift};
            code = code < ${k.low} ? ${k.low} : code;
            y[${at}] = (int8_t)(code > ${k.high} ? ${k.high} : code);
        }
% endif
</%def>\
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
    const int32_t left = ${k.left};
    const int32_t right = ${k.right};
% if whole:
    for (const int8_t *const end = y + ${whole}; y != end; a += 8, b += 8, y += 8) {
% for i in range(8):
${one(i)}\
% endfor
    }
% endif
% for i in range(k.elements - whole):
${one(i)}\
% endfor
}
