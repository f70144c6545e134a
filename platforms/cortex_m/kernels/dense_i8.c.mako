<%
b, c = k.at_once, k.codes
widen = f"tilewright_widen{b}{'_unsigned' if k.unsigned else ''}"
a = "a" if k.x_type == "int8_t" else "(const int8_t *)a"
y = "y" if k.y_type == "int8_t" else "(int8_t *)y"
rest = k.columns - k.wide
even = rest // 2 * 2
%>\
static void ${f.name}(${f.parameters})
{
% if rest:
    uint32_t *const xs = scratch;
% endif
    for (int m = 0; m < ${k.rows}; m += ${b}) {
        const int at = m < ${k.rows - b} ? m : ${k.rows - b};
        const int8_t *s = ${a} + ${times("at", k.inputs)};
% if k.inputs != k.depth:
        int8_t *const copy = ${plus("(int8_t *)scratch", 2 * b * k.depth if rest else 0)};
        for (int r = 0; r < ${b}; r++) {
            (void)memcpy(copy + r * ${k.depth}, s + r * ${k.inputs}, ${k.inputs});
            (void)memset(copy + r * ${k.depth} + ${k.inputs}, 0, ${k.depth - k.inputs});
        }
        s = copy;
% endif
% if k.wide:
        tilewright_row${c.form}(s, w, table, ${y} + ${times("at", k.columns)}, ${k.depth // 4}, ${k.wide}, codes);
% endif
% if rest:
        const int8_t *const sources[${b}] = {${", ".join(f"s + {j * k.depth}" if j else "s" for j in range(b))}};
        ${widen}(sources, xs, ${k.depth // 4});
% endif
% for first, count in ((0, even), (rest - 2, 2 * (rest % 2))):
% if count and rest >= 2:
<% column = k.wide + first; at_word = k.wide * k.depth // 4 + (first + 1) // 2 * k.depth // (1 if c.more_bits else 2); at_table = k.wide * c.table_step + (first + 1) // 2 * 2 * c.table_step %>\
        tilewright_matrix${b}${c.form}(xs, ${plus("w", at_word)}, ${plus("table", at_table)}, ${y} + ${plus(times("at", k.columns), column)}, ${k.depth // 2}, ${count}, ${k.columns}, codes);
% endif
% endfor
    }
}
