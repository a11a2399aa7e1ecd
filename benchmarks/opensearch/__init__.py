"""Measures the OpenSearch storage against bare opensearch-py calls and the embedded stores.

    python -m benchmarks.opensearch --passages 100000 --json figures.json

It starts one node itself, on loopback, with the data in a temporary folder; see `--help`. It is no
part of `python -m benchmarks`, because it needs Java and Maven.
"""
