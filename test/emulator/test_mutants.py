"""Whatever orders a kernel is needed, or listed as redundant with the reason.

The PTX of the examples and of hand-built kernels runs without one of its barriers,
fences, waits, commits and expectations at a time; the emulator has to miss each. A
sample is drawn from the seed; TILE_MUTANTS=all tries everything, for which the suite
`mutants` of scripts/test.sh has its own time.
"""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from cases import SEED, TILE_RUN
from mutants import Findings, Mutant, Outcome, Subject, drop_twins, find_subjects

WANTS_ALL = os.environ.get("TILE_MUTANTS") == "all"
SUBJECTS = 6  # of a sample, and mutants of each
MUTANTS = 2
SEEDS = 4

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")


def choose() -> list[tuple[Subject, Mutant]]:
    """A sample, or all there are."""
    dice = random.Random(SEED)
    loads = find_subjects()
    if WANTS_ALL:
        subjects = drop_twins([load() for load in loads.values()])
        return [(subject, mutant) for subject in subjects for mutant in subject.mutants]
    names = list(loads)
    dice.shuffle(names)
    chosen: list[tuple[Subject, Mutant]] = []
    for name in names[:SUBJECTS]:
        subject = loads[name]()
        chosen += [(subject, mutant) for mutant in dice.sample(subject.mutants, min(MUTANTS, len(subject.mutants)))]
    return chosen


@pytest.fixture(scope="module")
def chosen() -> list[tuple[Subject, Mutant]]:
    return choose()


@pytest.fixture(scope="module")
def outcomes(chosen: list[tuple[Subject, Mutant]]) -> list[tuple[str, Outcome]]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda pair: (pair[0].name, pair[0].judge(pair[1], SEEDS)), chosen))


def test_every_subject_was_gone_through() -> None:
    """A new example or case of one: mutants.py, and its name into mutants.json."""
    assert Findings().tried == sorted(find_subjects())


def test_the_whole_is_right(chosen: list[tuple[Subject, Mutant]]) -> None:
    """Nothing is reported of code that nothing was taken from."""
    subjects = {subject.name: subject for subject, _ in chosen}.values()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = list(pool.map(lambda subject: subject.find_faults(subject.ptx, 1), subjects))
    assert subjects and not any(faults), "\n".join(faults)


def test_mutants_are_reported_or_listed(outcomes: list[tuple[str, Outcome]]) -> None:
    findings = Findings()
    print(f"{len(outcomes)} mutants of seed {SEED}")
    missed = [
        f"{name}: {outcome}"
        for name, outcome in outcomes
        if not outcome.is_reported and findings.find(name, outcome) is None
    ]
    assert outcomes and not missed, "\n".join(missed)


@pytest.mark.skipif(not WANTS_ALL, reason="what a sample leaves out may use the row; TILE_MUTANTS=all tries them all")
def test_what_is_listed_is_there(outcomes: list[tuple[str, Outcome]]) -> None:
    findings = Findings()
    used = {findings.find(name, outcome) for name, outcome in outcomes if not outcome.is_reported}
    assert [row for number, row in enumerate(findings.redundant) if number not in used] == []
