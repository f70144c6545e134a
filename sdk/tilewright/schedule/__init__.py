"""What a deployment decides, the only way from decisions to a placed plan, and the search over them."""
