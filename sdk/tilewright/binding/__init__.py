"""One kernel for every node, by backtracking."""
