"""Operators on integer codes: what they mean, what their sums can reach, and the spellings that files give them."""
