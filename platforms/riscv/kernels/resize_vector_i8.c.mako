<%
e = k.extent
single = e.channels <= 32
%>\
/* All channels of a pixel from those of its four sources. */
static void ${f.name}_pixel(const ${e.x_type} *x0, const ${e.x_type} *x1, const ${e.x_type} *x2, const ${e.x_type} *x3, int w0, int w1, int w2, int w3, ${e.y_type} *y)
{
    int left = ${e.channels};
    int width;
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
% if not single:
                     "1:\n\t"
% endif
% for line in k.turn:
                     "${line}\n\t"
% endfor
% if not single:
                     "sub %[left], %[left], %[width]\n\t"
% for name in ("x0", "x1", "x2", "x3", "y"):
                     "add %[${name}], %[${name}], %[width]\n\t"
% endfor
                     "bnez %[left], 1b\n\t"
% endif
                     ".option pop"
                     : [width] "=&r"(width), [left] "+&r"(left), [x0] "+&r"(x0), [x1] "+&r"(x1), [x2] "+&r"(x2), [x3] "+&r"(x3), [y] "+&r"(y)
                     : [w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), [w3] "r"(w3)${"".join(f', [{name}] "r"({value})' for name, value in k.operands)}
                     : "memory");
}

static void ${f.name}(${f.parameters})
{
    for (int image = 0; image < ${e.images}; image++) {
        for (int row = 0; row < ${e.rows}; row++) {
            const ${e.x_type} *const upper = x + image * ${e.image} + row_places[2 * row];
            const ${e.x_type} *const lower = x + image * ${e.image} + row_places[2 * row + 1];
            const int a = row_weights[2 * row];
            const int b = row_weights[2 * row + 1];
            for (int column = 0; column < ${e.columns}; column++) {
                const int before = column_places[2 * column];
                const int behind = column_places[2 * column + 1];
                const int p = column_weights[2 * column];
                const int q = column_weights[2 * column + 1];
                ${f.name}_pixel(upper + before, upper + behind, lower + before, lower + behind, a * p, a * q, b * p, b * q, y);
                y += ${e.channels};
            }
        }
    }
}
