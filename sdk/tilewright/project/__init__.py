"""Puts the generated C into the builds that authors of firmware have: CMake, make, Zephyr, Arduino, and others."""
