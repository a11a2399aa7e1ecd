"""Moves a library that is in use: its ledger to another database, its index to another engine."""
