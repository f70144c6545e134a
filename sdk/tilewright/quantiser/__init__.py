"""Float networks with weights of few bits, written in standard operators."""
