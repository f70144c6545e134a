"""The network in other forms."""
