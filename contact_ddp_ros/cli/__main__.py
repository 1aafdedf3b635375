"""`python -m contact_ddp_ros.cli` is `contact-ddp`."""

import sys

from contact_ddp_ros.cli import main

sys.exit(main())
