"""Proofs by running: many networks compiled into one C program and compared with what they mean."""
