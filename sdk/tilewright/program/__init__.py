"""Named regions of a network and how each is shipped."""
