"""Translation validation: the machine code of integer layers against the meaning of their operators, for all inputs."""
