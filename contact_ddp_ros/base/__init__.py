"""Errors, declared configuration, files, and the compiler with its cache."""
