"""From an ONNX file to a checked Model with static shapes."""
