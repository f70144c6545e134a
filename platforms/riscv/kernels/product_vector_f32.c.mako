<%
p = k.product
rows = range(k.at_once)
%>\
/* ${k.at_once} rows times up to ${k.lanes} columns. */
static void ${f.name}_block(const float *a, const float *b, float *y, int width)
{
    int left = ${p.depth};
% for row in rows:
    const float *a${row} = ${plus("a", row * p.a_row)};
    float v${row};
% endfor
    __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m8, ta, ma\n\t"
% for sums in k.sums:
                     "vmv.v.i ${sums}, 0\n\t"
% endfor
                     "1:\n\t${"vle32.v v0, (%[b])" if p.b_column == 1 else "vlse32.v v0, (%[b]), %[b_column]"}\n\tadd %[b], %[b], %[b_step]\n\t"
% for row in rows:
                     "flw %[v${row}], (%[a${row}])\n\tadd %[a${row}], %[a${row}], %[a_step]\n\t"
% endfor
                     "addi %[left], %[left], -1\n\t"
% for row, sums in zip(rows, k.sums):
                     "vfmacc.vf ${sums}, %[v${row}], v0\n\t"
% endfor
                     "bnez %[left], 1b\n\t"
% for sums in k.sums:
                     "${f"vse32.v {sums}, (%[y])" if p.y_column == 1 else f"vsse32.v {sums}, (%[y]), %[y_column]"}\n\tadd %[y], %[y], %[y_row]\n\t"
% endfor
                     ".option pop"
                     : [left] "+&r"(left), [b] "+&r"(b), [y] "+&r"(y)${"".join(f', [a{row}] "+&r"(a{row}), [v{row}] "=&f"(v{row})' for row in rows)}
                     : [width] "r"(width), [b_step] "r"(${4 * p.b_step}), [a_step] "r"(${4 * p.a_step}), [y_row] "r"(${4 * p.y_row}),
                       [b_column] "r"(${4 * p.b_column}), [y_column] "r"(${4 * p.y_column})
                     : "memory");
}

static void ${f.name}(${f.parameters})
{
% for head in p.loops:
${head}
% endfor
% if p.rows > k.at_once:
${p.indent}for (int row = 0; row < ${p.rows}; row += ${k.at_once}) {
${p.indent}    const int m = row < ${p.rows - k.at_once} ? row : ${p.rows - k.at_once};
% else:
${p.indent}{
% endif
${p.indent}    for (int n = 0; n < ${p.columns}; n += ${k.lanes}) {
${p.indent}        const int width = n < ${p.columns - k.lanes} ? ${k.lanes} : ${p.columns} - n;
${p.indent}        ${f.name}_block(${p.place("a")} + ${times("m", p.a_row) if p.rows > k.at_once else "0"}, ${p.place("b")} + ${times("n", p.b_column)}, ${p.place("y")} + ${times("m", p.y_row) if p.rows > k.at_once else "0"} + ${times("n", p.y_column)}, width);
${p.indent}    }
${p.indent}}
% for end in p.ends:
${end}
% endfor
}
