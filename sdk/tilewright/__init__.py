"""tilewright: ONNX networks as firmware-ready C, with proved memory."""
