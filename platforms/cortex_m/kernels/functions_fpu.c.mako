TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
% if k.ends:
    static const float numbers[21] = TILEWRIGHT_FPU_ELU_NUMBERS(${", ".join(k.ends)});
    tilewright_fpu_elu(x, y, ${k.elements}, numbers);
% else:
    tilewright_fpu_${k.function}(x, y, ${k.elements});
% endif
}
