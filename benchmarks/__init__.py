"""How fast and how big Footnote is, each time against a bound or a peer: `make bench`."""
