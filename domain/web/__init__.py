"""Rules of HTTP: permitted hosts and origins, security headers, and Retry-After.

`host_policy` decides, and the ASGI middleware in `host_guard` enforces the decision. Every server
uses both. The package imports no other layer.
"""
