"""What the user finds afterwards: files and folders that appear whole or not at all, and what is ours in them."""
