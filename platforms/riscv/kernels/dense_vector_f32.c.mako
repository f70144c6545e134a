static void ${f.name}(${f.parameters})
{
    for (int m = 0; m < ${k.rows}; m += ${k.at_once}) {
        const int at = ${f"m < {k.rows - k.at_once} ? m : {k.rows - k.at_once}" if k.rows % k.at_once else "m"};
        const float *sources[${k.at_once}];
        for (int j = 0; j < ${k.at_once}; j++) {
            sources[j] = a + (at + j) * ${k.inputs};
        }
        (void)tilewright_vector_block${k.at_once}(sources, 1, ${k.inputs}, w, ${k.columns}, ${k.low}, ${k.high}, y + at * ${k.columns}, ${k.columns});
    }
}
