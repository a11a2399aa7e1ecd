"""Backups: a consistent copy of a library in one file, and its restoration.

`library_copy` copies a library that is in use, `backup_file` writes and reads the file, `manifest`
describes its contents, and `restoration` puts them into an empty data folder.
"""
