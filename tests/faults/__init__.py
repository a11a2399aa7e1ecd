"""Random faults while sources are imported and questions are asked, over servers that fail.

python -m tests.faults --faults 100 --seed 1
"""
