"""`python -m contact_ddp_ros.apps.cli` is `contact-ddp`."""

import sys

from contact_ddp_ros.apps.cli import main

sys.exit(main())
