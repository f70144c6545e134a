"""report.json and what is rendered from it."""
