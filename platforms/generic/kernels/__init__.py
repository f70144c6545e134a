"""The kernels of the generic platform: one class, one template, at most one C file each."""
