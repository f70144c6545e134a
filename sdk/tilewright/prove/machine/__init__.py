"""The symbolic machine: p-code of an image's machine code, run once over terms."""
