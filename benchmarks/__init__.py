"""Speed and size of Footnote, each compared with a bound or a peer: `make bench`."""
