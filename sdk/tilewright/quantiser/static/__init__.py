"""Float networks in codes of fixed scales, measured on calibration samples: static post-training quantisation."""
