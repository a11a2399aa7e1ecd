"""Measuring search and answers: labelled sets and the figures over them."""
