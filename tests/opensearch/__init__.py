"""Real OpenSearch nodes on loopback, for tests, benchmarks, and people who want to try one."""
