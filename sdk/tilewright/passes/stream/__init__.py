"""A network over a whole sequence as one that is given some frames a call and keeps what it needs of those before."""
