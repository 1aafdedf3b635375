"""The packaged terms of a node's cost, one per file: compiled value and derivatives, and the value for records."""
