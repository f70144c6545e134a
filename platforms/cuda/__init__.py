"""The platform `cuda`."""
