"""The lowering of every quantised spelling to operators on quantised tensors: one kind of step, one file."""
