"""What the pages show; each page imports the modules whose parts it shows.

`chat`, `documents`, `library`, `imports`, `lab`, and `catalog` contain the parts of the pages.
`shared` has the frame, the services, and other code that all pages use, and `text` has their texts
in three languages.
"""
