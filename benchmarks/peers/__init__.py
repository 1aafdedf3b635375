"""The same bound solved by Crocoddyl and by CasADi with IPOPT."""

MISSING_CROCODDYL = "Crocoddyl is not installed, so it is left out; pip install -r requirements-bench.txt brings it"

TARGET_CROCODDYL = 0.5
"""One iteration of full DDP over one of Crocoddyl's FDDP."""

CYCLE = 90
"""Steps of the horizon that the receding horizon has."""
