/* Elements are shared among the cores. */
static void ${f.name}(${f.parameters})
{
    const int end = tilewright_share(tile->columns, core + 1, cores);
    for (int i = tilewright_share(tile->columns, core, cores); i < end; i++) {
        y[i] = (${k.code_type})(tilewright_steps_passed(steps, x + i)${f" + {k.low}" if k.low > 0 else f" - {-k.low}" if k.low else ""});
    }
}
