"""Its being here puts this folder on the import path, so that every test finds the helpers beside it (`oracle`)."""
