"""A PULP cluster whose weights rest in a third, large memory."""
