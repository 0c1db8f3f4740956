"""A violation's path, parsed: every place that a check names, and nothing else."""

import pytest

from critic.repairs.violation_places import (
    ArgsPlace,
    DependencyPlace,
    IdPlace,
    LatePlace,
    Place,
    PlanPlace,
    RefPlace,
    StepPlace,
    parse_place,
)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/declared_outputs", PlanPlace("declared_outputs")),
        ("/steps", PlanPlace("steps")),
        ("/steps/12", StepPlace(12)),
        ("/steps/0/args", ArgsPlace(0, ())),
        ("/steps/0/args/a~1b~0/3", ArgsPlace(0, ("a/b~", "3"))),
        ("/steps/3/takes/0", LatePlace(3, ("takes", "0"))),
        ("/steps/3/takes/0/step", LatePlace(3, ("takes", "0", "step"))),
        ("/steps/3/evidence_steps/1", LatePlace(3, ("evidence_steps", "1"))),
        ("/steps/1/evidence_refs/2", RefPlace(1, 2)),
        ("/steps/1/id", IdPlace(1)),
        ("/steps/1/depends_on/0", DependencyPlace(1, 0)),
    ],
)
def test_a_path_is_parsed_into_its_place(path: str, place: Place) -> None:
    assert parse_place(path) == place


@pytest.mark.parametrize("path", ["", "/", "/nowhere", "/steps/0/kind", "/steps/0/id/0"])
def test_a_path_that_no_check_names_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match=f"^no check names the path '{path}'$"):
        parse_place(path)
