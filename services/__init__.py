"""The use cases: each is what one person wants done, without HTTP and without widgets."""
