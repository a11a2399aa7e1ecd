"""Pure functions over text: folding, scripts, sentences and search tokens. No I/O, no state."""
