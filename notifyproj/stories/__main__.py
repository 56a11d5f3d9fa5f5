"""`python -m notifyproj.stories`: play all stories; 0 when every one of them held."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

from notifyproj.stories import crowds, errands
from notifyproj.stories.scene import Scene, TooLate, Unexpected
from notifyproj.stories.telling import Teller

Story = Callable[[Scene, Teller], None]

STORIES: Final[dict[str, Story]] = {
    "1. Message A: 503, 503, 202": errands.third_try,
    "2. Message B: a number that is no number": errands.wrong_number,
    "3. An order is ready, posted twice": errands.order_ready,
    "4. Opted out, expired, scheduled, cancelled": errands.not_now,
    "5. An OTP passes 2,000 newsletters": crowds.otp_passes,
    "6. Workers killed while sending, broker wiped": crowds.killed_and_wiped,
}


def main() -> int:
    """Play the stories whose numbers are given, or all."""
    scene = Scene.from_environment(os.environ)
    wanted = tuple(sys.argv[1:]) or tuple(str(number) for number in range(1, len(STORIES) + 1))
    ends = {
        title: _play(title, story, scene)
        for title, story in STORIES.items()
        if title.startswith(wanted)
    }
    print()
    for title, broken in ends.items():
        print(f"{title}: {'NOT held: ' + '; '.join(broken) if broken else 'held'}")
    return int(any(ends.values()))


def _play(title: str, story: Story, scene: Scene) -> list[str]:
    teller = Teller(title, say=lambda line: print(line, flush=True))
    try:
        story(scene, teller)
    except (TooLate, Unexpected, OSError) as error:
        teller.check(str(error), held=False)
    return teller.broken


if __name__ == "__main__":
    sys.exit(main())
