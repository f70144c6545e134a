"""Static placement of every byte."""
