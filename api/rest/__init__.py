"""The REST API below `/api/v1`: a module of operations for each kind of resource, with its schemas.

Schemas are defined next to the operations that use them, except those of answers, which
`answer_schemas` shares with `api.openai`. Operations call a service and contain no logic.
`api.application` includes the routers.
"""
