"""Networks that learn in integers: gradients as codes behind a network on codes, written as nodes like any others."""
