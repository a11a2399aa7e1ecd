"""The ledger: a SQL database of sources, documents, imports, conversations, and all other records.

`database` opens and migrates it and has the base class of the stores, `postgresql` contains what
differs between PostgreSQL and SQLite, `ledger_tables` defines the tables, and each `*_store` module
contains the queries for one subject. `ledger` implements the ledger's part of the crash protocol.
Names in the database never change without a migration.
"""
