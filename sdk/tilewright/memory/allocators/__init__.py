"""The allocators, one module each, found by place: a module here with an `ALLOCATOR` is one."""
