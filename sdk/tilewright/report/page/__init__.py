"""The report as one self-contained page to look at: values first, then templates, a style and a script of their own."""
