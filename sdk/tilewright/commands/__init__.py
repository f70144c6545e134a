"""The verbs of the command line, one module each: `SUMMARY`, `add_arguments(parser)` and `execute(arguments)`.

`export-torch` is the module `export_torch`. A module is imported for every `--help`, so what is heavy is imported
inside `execute`, which returns an `Answer`; `cli.main` prints it.
"""
