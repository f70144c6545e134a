"""The platform `cortex_m`."""
