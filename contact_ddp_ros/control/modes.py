"""What the controller is doing, and its answers to those who want it to do something else.

DAMP --request(STAND)--> STAND --request(BOUND), once a policy covers the present--> BOUND
  ^                       |  ^                                                         |
  |----- fault, request --|  |--------------------- request(STAND) --------------------|
  |--------------------------------- fault, request -----------------------------------|
"""

from dataclasses import dataclass
from enum import Enum


class ControlMode(Enum):
    """Modes of the controller: only damping, standing, following the planner's policy."""

    DAMP = "damp"
    STAND = "stand"
    BOUND = "bound"


@dataclass(frozen=True)
class Answer:
    """Whether a request or a policy was accepted, and why, or why not, in words."""

    accepted: bool
    reason: str
