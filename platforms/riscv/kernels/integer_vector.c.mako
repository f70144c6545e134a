<%
p = k.product
rows = range(k.at_once)
%>\
/* ${k.at_once} rows times up to ${k.lanes} columns. */
static void ${f.name}_block(const ${k.a_type} *a, const ${k.b_type} *b, ${k.y_type} *y, int32_t a_zero, int32_t b_zero, int width)
{
    int32_t steps = ${p.depth};
% for row in rows:
    const ${k.a_type} *a${row} = ${plus("a", row * p.a_row)};
    int32_t v${row};
% endfor
    __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m8, ta, ma\n\t"
% for sums in k.sums:
                     "vmv.v.i ${sums}, 0\n\t"
% endfor
                     "vsetvli zero, %[width], e16, m4, ta, ma\n\t"
                     "1:\n\t${"vle8.v v2, (%[b])" if p.b_column == 1 else "vlse8.v v2, (%[b]), %[b_column]"}\n\tadd %[b], %[b], %[b_step]\n\t"
% for row in rows:
                     "${k.load} %[v${row}], (%[a${row}])\n\tadd %[a${row}], %[a${row}], %[a_step]\n\t"
% endfor
                     "${k.widen} v4, v2\n\t"
% if k.b_zero != "0":
                     "vsub.vx v4, v4, %[b_zero]\n\t"
% endif
% for row, sums in zip(rows, k.sums):
% if k.a_zero != "0":
                     "sub %[v${row}], %[v${row}], %[a_zero]\n\t"
% endif
                     "vwmacc.vx ${sums}, %[v${row}], v4\n\t"
% endfor
                     "addi %[steps], %[steps], -1\n\tbnez %[steps], 1b\n\t.option pop"
                     : [b] "+&r"(b), [steps] "+&r"(steps)${"".join(f', [a{row}] "+&r"(a{row}), [v{row}] "=&r"(v{row})' for row in rows)}
                     : [width] "r"(width), [b_step] "r"(${p.b_step}), [a_step] "r"(${p.a_step}),
                       [a_zero] "r"(a_zero), [b_zero] "r"(b_zero), [b_column] "r"(${p.b_column})
                     : "memory");
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
% for line in k.stored:
                     "${line}\n\t"
% endfor
                     ".option pop"
                     : [y] "+&r"(y)
                     : [width] "r"(width), [y_step] "r"(${k.y_bytes * p.y_row})${"".join(f', [{name}] "r"({value})' for name, value in k.store_operands)}
                     : "memory");
}

% if k.windows:
static void ${f.name}(${f.parameters})
{
    static const tilewright_window_axis rows = ${k.windows.rows}, columns = ${k.windows.columns};
    ${k.a_type} *const windows = (${k.a_type} *)(void *)scratch;
    for (int image = 0; image < ${k.windows.images}; image++) {
        for (int pixel = 0; pixel < ${k.windows.image}; pixel += ${p.rows}) {
            const int first = pixel < ${k.windows.image - p.rows} ? pixel : ${k.windows.image - p.rows};
            int32_t *const to = y + ${times("image", p.columns * k.windows.image)} + first;
            for (int j = 0; j < ${p.rows}; j++) {
                tilewright_window((const uint8_t *)x + ${times("image", k.windows.inputs * k.windows.plane)}, (uint8_t *)windows + ${times("j", p.depth)}, ${k.windows.inputs}, &rows, &columns, (first + j) / ${k.windows.across}, (first + j) % ${k.windows.across}, (uint8_t)${k.a_zero});
            }
            for (int n = 0; n < ${p.columns}; n += ${k.lanes}) {
                const int width = n < ${p.columns - k.lanes} ? ${k.lanes} : ${p.columns} - n;
                ${f.name}_block(windows, w + ${times("n", p.b_column)}, to + ${times("n", p.y_column)}, ${k.a_zero}, ${k.b_zero}, width);
            }
        }
    }
}
% else:
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
${p.indent}        ${f.name}_block(${p.place("a")} + ${times("m", p.a_row) if p.rows > k.at_once else "0"}, ${p.place("b")} + ${times("n", p.b_column)}, ${p.place("y")} + ${times("m", p.y_row) if p.rows > k.at_once else "0"} + ${times("n", p.y_column)}, ${k.a_zero}, ${k.b_zero}, width);
${p.indent}    }
${p.indent}}
% for end in p.ends:
${end}
% endfor
}
% endif
