"""Gradients of networks as networks: rules of operators, losses, steps of optimisers; all of it ordinary nodes."""
