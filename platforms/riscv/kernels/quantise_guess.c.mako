${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        y[i] = (${k.code_type})(tilewright_guessed_code(steps, x + i, ${k.inverse}u, ${k.top}u, ${k.zero})${f" + {k.low}" if k.low > 0 else f" - {-k.low}" if k.low else ""});
    }
}
