${f.storage} void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        float steps = x[i] / ${k.step};
        steps = steps > ${k.low} ? steps : ${k.low}; /* what is no number becomes the lowest code */
        steps = steps < ${k.high} ? steps : ${k.high};
        y[i] = (${k.code_type})(${k.nearest}(steps)${f" + {k.zero}" if k.zero > 0 else f" - {-k.zero}" if k.zero else ""});
    }
}
