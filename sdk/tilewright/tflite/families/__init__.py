"""Operators as ONNX nodes, one file per family; every module's `OPERATORS` take part."""
