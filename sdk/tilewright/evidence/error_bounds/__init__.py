"""Bounds on rounding errors of float networks: one file per family of operators, composed over the network.

Every rule gives what one node adds to the error of its results, and how errors of its operands reach them. The former
is Higham's running bound (Accuracy and Stability of Numerical Algorithms, 2002, chapter 3), the latter affine
arithmetic (Stolfi and de Figueiredo, 1997): linear around the values, what is left a symbol of its own.
"""
