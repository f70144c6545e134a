/* Elements are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->rows * tile->columns, core + 1, cores);
    for (int i = tilewright_share(tile->rows * tile->columns, core, cores); i < end; i++) {
        const ${k.word} e0 = a[i];
        const ${k.word} e1 = b[i];
        ${k.word} code = ${k.form};
        code = code < ${k.low} ? ${k.low} : code;
        code = code > ${k.high} ? ${k.high} : code;
        y[i] = (${k.y_type})code;
    }
}
