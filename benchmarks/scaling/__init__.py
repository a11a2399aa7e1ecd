"""A model of how Footnote scales: questions on several cores, imports by several workers, cost.

python -m benchmarks.scaling                          # the tables in docs/scaling.md
python -m benchmarks.scaling --vcpu-hour .05 --memory-month 4 --disk-month .08

It extrapolates from measured figures (`figures.py`): nothing in its tables was measured.
"""
