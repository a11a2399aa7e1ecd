"""Programs that derive the product's constants from labeled sets; not part of the product."""
