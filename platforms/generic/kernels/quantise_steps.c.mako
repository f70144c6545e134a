${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        y[i] = (${k.code_type})(tilewright_steps_passed(steps, x + i)${f" + {k.low}" if k.low > 0 else f" - {-k.low}" if k.low else ""});
    }
}
