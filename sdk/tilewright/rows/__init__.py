"""Chains of nodes computed band by band of rows: what lies between them is only some rows in scratch."""
