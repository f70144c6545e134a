"""From a TensorFlow Lite file to an ONNX model with QuantizeLinear and DequantizeLinear, which the frontend reads."""
