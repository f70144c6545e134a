"""Several tokens of a prompt in one call: a second network, derived from the step of one token."""
