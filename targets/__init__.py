"""The targets: one folder of data each."""
