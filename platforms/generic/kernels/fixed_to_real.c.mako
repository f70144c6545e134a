static void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        y[i] = (float)x[i] * ${k.step};
    }
}
