/* Asks the application for the next ${k.rows} rows. */
${f.storage} void ${f.name}(${f.parameters})
{
    const tilewright_rows *const source = (const tilewright_rows *)(const void *)x;
    source->next(source->context, y, ${k.rows});
}
