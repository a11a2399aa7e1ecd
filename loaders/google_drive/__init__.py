"""Google Drive as a source: folders, single files and shared drives, kept in step by changes."""
