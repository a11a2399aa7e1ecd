"""Programs that derive the constants of the product from labelled sets; not part of it."""
