"""Common to all rooms' tests; the helpers beside this file are imported by name (`oracle`)."""
