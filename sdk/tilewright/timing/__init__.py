"""Instructions of the run function at most and at least, over all inputs, from the program itself (docs/time.md).

`binary` reads the program, `lift` brings its instructions into p-code, `flow` finds loops and where ways meet,
`stream` lays both out for the machine in `engine/`, which `machine` compiles and calls; `bound` puts them together,
`lines` names places in the C and `flow_facts` writes what other tools for worst-case time take.
"""
