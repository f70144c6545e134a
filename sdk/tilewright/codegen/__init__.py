"""From a placed plan to a folder of C."""
