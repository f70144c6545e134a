/* Elements are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->columns, core + 1, cores);
    for (int i = tilewright_share(tile->columns, core, cores); i < end; i++) {
        y[i] = reals[${k.index}];
    }
}
