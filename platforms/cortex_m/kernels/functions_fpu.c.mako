TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
    tilewright_fpu_${k.function}(x, y, ${k.elements});
}
