"""The operators: shape rule, index maps and meaning of each, one family per file."""
