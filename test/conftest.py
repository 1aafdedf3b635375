"""Puts this folder on the import path, so that tests find the helpers in it as `oracle` too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
