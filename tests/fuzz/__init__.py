"""Damages small files in many ways and reads them as an import does.

python -m tests.fuzz --mutants 20000 --seed 1
"""
