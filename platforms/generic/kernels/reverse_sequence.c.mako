${f.storage} void ${f.name}(${f.parameters})
{
    for (int entry = 0; entry < ${k.batch}; entry++) {
        const int64_t asked = (int64_t)sequence_lens[entry];
        const int length = asked < 0 ? 0 : asked > ${k.steps} ? ${k.steps} : (int)asked;
        for (int step = 0; step < ${k.steps}; step++) {
            const int from = step < length ? length - 1 - step : step;
            (void)memcpy(y + entry * ${k.batch_step} + step * ${k.time_step}, x + entry * ${k.batch_step} + from * ${k.time_step},
                   ${k.inner} * sizeof *y);
        }
    }
}
