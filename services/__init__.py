"""The use cases of people and programs, one package each.

The pages, the API, and the command line call services, which know neither HTTP nor widgets.
`bootstrap` builds them. They combine chains, retrievers, loaders, storage, and models, which don't
know each other. The modules next to the packages are shared by several use cases.
"""
