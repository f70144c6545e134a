<%
joined = [
    "vle32.v v0, (%[x0])", "vle32.v v8, (%[x2])", "vle32.v v16, (%[x1])", "vle32.v v24, (%[x3])",
    "vfmul.vf v0, v0, %[a]", "vfmacc.vf v0, %[b], v8", "vfmul.vf v16, v16, %[a]", "vfmacc.vf v16, %[b], v24",
    "vfmul.vf v0, v0, %[p]", "vfmacc.vf v0, %[q], v16", "vse32.v v0, (%[y])",
]
%>\
/* All channels of a pixel from those of two columns of two rows. */
static void ${f.name}_pixel(const float *x0, const float *x1, float a, float b, float p, float q, float *y)
{
    const float *x2 = x0 + ${k.source_columns * k.channels};
    const float *x3 = x1 + ${k.source_columns * k.channels};
    int left = ${k.channels};
    int some;
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
                     "1:\n\tvsetvli %[some], %[left], e32, m8, ta, ma\n\t"
% for line in joined:
                     "${line}\n\t"
% endfor
                     "sub %[left], %[left], %[some]\n\tslli %[some], %[some], 2\n\t"
% for name in ("x0", "x1", "x2", "x3", "y"):
                     "add %[${name}], %[${name}], %[some]\n\t"
% endfor
                     "bnez %[left], 1b\n\t.option pop"
                     : [some] "=&r"(some), [left] "+&r"(left), [x0] "+&r"(x0), [x1] "+&r"(x1), [x2] "+&r"(x2), [x3] "+&r"(x3), [y] "+&r"(y)
                     : [a] "f"(a), [b] "f"(b), [p] "f"(p), [q] "f"(q)
                     : "memory");
}

static void ${f.name}(${f.parameters})
{
    for (int image = 0; image < ${k.images}; image++) {
        for (int row = 0; row < ${k.rows}; row++) {
            const float *const upper = x + image * ${k.image} + row_places[row];
            for (int column = 0; column < ${k.columns}; column++) {
                const float *const before = upper + column_places[column];
                ${f.name}_pixel(before, before + ${k.channels}, row_weights[2 * row], row_weights[2 * row + 1], column_weights[2 * column], column_weights[2 * column + 1], y);
                y += ${k.channels};
            }
        }
    }
}
