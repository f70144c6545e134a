<%
form, run = k.form, k.run
plain = (form.low, form.high) == (-128, 127)
whole = run.size // k.at_once * k.at_once
deep = "    " * (len(k.outer) + 1)
alone = [name for name in "ab" if not getattr(run, name)]
looped = whole > k.at_once

def code(name, number):
    if name in alone:
        return f"{name}_code"
    step = getattr(run, name)
    at = ("" if not looped else "i" if step == 1 else f"i * {step}") if number[1] else ""
    return f"from_{name}[{plus(at, number[0] * step)}]"

def word(number):
    a, b = code("a", number), code("b", number)
    if form.product:
        return f"({plus(a, -form.zero_points[0])}) * ({plus(b, -form.zero_points[1])}) * {form.left} + ({form.addend})"
    return f"{a} * {form.left} + {b} * ({form.right}) + ({form.addend})"
%>\
<%def name="one(place, in_loop, indent)">\
${indent}{
${indent}    const int32_t word = ${word((place, in_loop))};
${indent}    int32_t code = ${f"tilewright_floor(word, {form.shift})" if form.ties == "up" else f"tilewright_tied(word, {form.shift}, {int(form.ties == 'odd')})"};
% if k.listed:
${indent}    if ((word & ${(1 << form.shift) - 1}) >= ${k.window}) {
${indent}        code += tilewright_listed(pairs, ${k.listed}, ${code("a", (place, in_loop))}, ${code("b", (place, in_loop))});
${indent}    }
% endif
% if plain:
${indent}    code = tilewright_saturate(code);
% else:
${indent}    code = code < ${form.low} ? ${form.low} : code;
${indent}    code = code > ${form.high} ? ${form.high} : code;
% endif
${indent}    to[${plus("i" if in_loop and looped else "", place)}] = (int8_t)code;
${indent}}
</%def>\
TILEWRIGHT_ONCE void ${f.name}(${f.parameters})
{
% for n, axis in enumerate(k.outer):
${"    " * (n + 1)}for (int i${n} = 0; i${n} < ${axis.size}; i${n}++) {
% endfor
% for name in "ab":
${deep}const int8_t *const from_${name} = ${k.place(name)};
% endfor
${deep}int8_t *const to = ${k.place("y")};
% for name in alone:
${deep}const int32_t ${name}_code = from_${name}[0];
% endfor
% if looped:
${deep}for (int i = 0; i < ${whole}; i += ${k.at_once}) {
% for place in range(k.at_once):
${one(place, True, deep + "    ")}\
% endfor
${deep}}
% else:
% for place in range(whole):
${one(place, True, deep)}\
% endfor
% endif
% for place in range(whole, run.size):
${one(place, False, deep)}\
% endfor
% for n in reversed(range(len(k.outer))):
${"    " * (n + 1)}}
% endfor
}
