"""Real numbers in fixed point: what bounds a tensor's values, and the network whose tensors of floats are codes."""
