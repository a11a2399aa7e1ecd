"""Shared code of the pages: the frame, the services, and the display of turns and evidence."""
