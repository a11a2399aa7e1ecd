"""Searching a catalogue of places: understands a question, knows the person, ranks, tells why."""
