"""One module for each simulator of the kit, found by its name: `SIMULATOR` is what runs."""
