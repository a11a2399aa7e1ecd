"""Google Drive as a source: folders, individual files, and shared drives, updated by change logs.

`GoogleDriveLoader` lists and reads; `DriveCalls` sends its requests. `services.sources` imports
this package inside functions, because Google's libraries load slowly.
"""
