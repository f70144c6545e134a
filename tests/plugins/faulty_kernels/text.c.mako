static void ${f.name}(${f.parameters})
{
    const int left = 0;
    y[0] = -x[0];
}
