"""Text for language models: tokens of text and text of tokens, and which token comes next."""
