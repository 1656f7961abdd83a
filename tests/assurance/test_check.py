"""Somebody else's release, checked with its folder alone: what was changed, and what was forged."""

import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.assurance.check import FILES, check_release
from promptdp.assurance.page import CERTIFICATE, PAGE
from promptdp.assurance.published import CONFIG, LEDGER, MANIFEST, WEIGHTS
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import read_json
from promptdp.policy import lora
from promptdp.privacy.ledger import verify_ledger
from tests.assurance.finished import Forgery
from tests.training.conftest import ROUNDS, SLOTS, calibration

SIGMA = calibration()["sigma"]


def test_a_release_holds_and_one_line_says_what_was_checked(released):
    line = check_release(released)
    assert "\n" not in line and line.startswith(
        f"{released}: holds: 6 files unchanged, ledger closed after 4 "
    )
    assert "epsilon 8.0000 at delta 0.01 recomputed by two accountants" in line
    assert "for 2 runs on these slots" in line


def test_a_release_holds_wherever_it_lies(released, tmp_path):
    check_release(shutil.copytree(released, tmp_path / "elsewhere"))


def test_the_adapter_files_have_the_names_that_training_gives_them():
    assert {WEIGHTS, CONFIG} == {lora.WEIGHTS, lora.CONFIG} and {WEIGHTS, CONFIG} < set(FILES)


# --- damage ---


@pytest.fixture(scope="module")
def damaged(released, tmp_path_factory):
    """A copy whose files are changed and put back."""
    return shutil.copytree(released, tmp_path_factory.mktemp("damaged") / "release")


def refused_with(damaged, name, content):
    path = damaged / name
    kept = path.read_bytes()
    path.write_bytes(content)
    try:
        with pytest.raises(InputError) as caught:
            check_release(damaged)
    finally:
        path.write_bytes(kept)
    message = str(caught.value)
    assert message.startswith(f"{damaged}/") and "\n" not in message and caught.value.exit_status == 2
    return message


@pytest.mark.parametrize("name", FILES)
def test_one_changed_byte_anywhere_is_damage(damaged, name):
    content = (damaged / name).read_bytes()
    places = {0, 1, len(content) - 2, len(content) - 1, *range(0, len(content), max(1, len(content) // 60))}
    for place in sorted(places):
        for other in {content[place] ^ 1, content[place] ^ 128, ord(" ")} - {content[place]}:
            refused_with(damaged, name, content[:place] + bytes([other]) + content[place + 1 :])


@pytest.mark.parametrize("name", FILES)
def test_one_byte_more_or_less_is_damage(damaged, name):
    content = (damaged / name).read_bytes()
    for other in (content + b"\n", content + b"\0", content[:-1], b" " + content, content[1:], b""):
        refused_with(damaged, name, other)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_other_content_of_any_file_is_damage(damaged, data):
    name = data.draw(st.sampled_from(FILES))
    content = (damaged / name).read_bytes()
    start = data.draw(st.integers(0, len(content) - 1))
    end = data.draw(st.integers(start, min(len(content), start + 50)))
    other = content[:start] + data.draw(st.binary(max_size=50)) + content[end:]
    if other != content:
        refused_with(damaged, name, other)


def add(name):
    return lambda folder: (folder / name).write_text("x")


ODD = {
    "a file more": (add("notes.txt"), r"notes\.txt: is not part of a release"),
    "a hidden file more": (add(".notes"), r"\.notes: is not part of a release"),
    "a folder more": (lambda folder: (folder / "logs").mkdir(), "logs: is not part of a release"),
    "a link for a file": (
        lambda folder: (
            (folder / LEDGER).rename(folder.parent / LEDGER),
            (folder / LEDGER).symlink_to(folder.parent / LEDGER),
        ),
        r"ledger\.jsonl: is no plain file",
    ),
    **{
        f"no {name}": (lambda folder, name=name: (folder / name).unlink(), f"{name}: is missing")
        for name in FILES
    },
}


@pytest.mark.parametrize("case", ODD)
def test_a_folder_with_other_files_than_a_release_holds_is_refused(released, tmp_path, case):
    damage, message = ODD[case]
    folder = shutil.copytree(released, tmp_path / "release")
    damage(folder)
    with pytest.raises(InputError, match=message):
        check_release(folder)


def test_what_is_no_folder_is_refused(released):
    with pytest.raises(InputError, match=r"is no release \(Not a directory\)"):
        check_release(released / PAGE)


# --- forgeries: every hash, digest and page agrees with what the forger wrote ---


@pytest.fixture
def forgery(released, tmp_path):
    return Forgery(released, tmp_path / "forged")


def test_a_forgery_that_changes_nothing_holds(forgery, released):
    """The forger's tools are as good as the curator's, so that it is the check that finds the others."""
    theta = verify_ledger(released / LEDGER).theta_sha256
    forgery.rebuild_ledger([("begin", None), ("commit", theta)] * ROUNDS, forgery.header)
    assert "holds" in check_release(forgery.derive())


def stated(key, by):
    return lambda forgery: forgery.derive(**{key: forgery.certificate[key] + by})


LOWERED = {
    "epsilon": lambda forgery: forgery.derive(epsilon=7.0, epsilon_all=7.0),
    "epsilon, by little": lambda forgery: forgery.derive(
        epsilon=forgery.certificate["epsilon"] - 3e-6, epsilon_all=forgery.certificate["epsilon"] - 3e-6
    ),
    "epsilon and what stands beside it": lambda forgery: forgery.derive(
        epsilon=7.0, epsilon_all=7.0, epsilon_retained=7.0, epsilon_composed=7.0, bracket=[6.99, 7.01]
    ),
    "epsilon_all": stated("epsilon_all", -1),
    "epsilon_retained": stated("epsilon_retained", -1),
    "epsilon_rdp": stated("epsilon_rdp", -1),
    "epsilon_composed": stated("epsilon_composed", -1),
}


@pytest.mark.parametrize("case", LOWERED)
def test_a_budget_below_what_was_spent_is_refused_with_both_numbers(forgery, case):
    LOWERED[case](forgery)
    with pytest.raises(PrivacyRefusal, match=r"certificate\.json: states epsilon.* was spent") as caught:
        check_release(forgery.folder)
    assert caught.value.exit_status == 3


RAISED = {
    "epsilon_retained": stated("epsilon_retained", 0.1),
    "rdp_order": stated("rdp_order", 1),
    "bracket": lambda forgery: forgery.derive(bracket=[0.0, 100.0]),
    "a look left out": lambda forgery: forgery.derive(selected_from=forgery.certificate["selected_from"][:1]),
}


@pytest.mark.parametrize("case", RAISED)
def test_a_number_that_does_not_follow_is_refused(forgery, case):
    RAISED[case](forgery)
    with pytest.raises(InputError, match=r"certificate\.json: states .* follows from its files"):
        check_release(forgery.folder)


def test_a_ledger_with_a_round_less_is_refused(forgery, released):
    """Its chain is sound and its attempts are those of the manifest; the mechanism still has T rounds."""
    theta = verify_ledger(released / LEDGER).theta_sha256
    forgery.rebuild_ledger([("begin", None), ("commit", theta)] * (ROUNDS - 1), forgery.header)
    forgery.seal(begun_attempts=ROUNDS - 1)
    with pytest.raises(InputError, match=r"ledger\.jsonl: its number of rounds is 3, but 4"):
        check_release(forgery.folder)


def test_a_mechanism_with_a_round_less_needs_other_settings(forgery, released):
    theta = verify_ledger(released / LEDGER).theta_sha256
    fewer = forgery.header["mechanism"] | {"rounds": ROUNDS - 1}
    forgery.edit_manifest(lambda m: (m["mechanism"].update(fewer), m["settings"].update(rounds=3)))
    forgery.rebuild_ledger(
        [("begin", None), ("commit", theta)] * (ROUNDS - 1), forgery.header | {"mechanism": fewer}
    )
    forgery.seal(begun_attempts=ROUNDS - 1)
    with pytest.raises(InputError, match="its first line's settings_sha256 is"):
        check_release(forgery.folder)


@pytest.mark.parametrize("change", [{"noise_multiplier": 2.0}, {"expected": 2}, {"slots": 20}])
def test_another_mechanism_in_the_ledger_alone_is_refused(forgery, released, change):
    theta = verify_ledger(released / LEDGER).theta_sha256
    header = forgery.header | {"mechanism": forgery.header["mechanism"] | change}
    forgery.rebuild_ledger([("begin", None), ("commit", theta)] * ROUNDS, header)
    forgery.seal(mechanism=header["mechanism"])
    with pytest.raises(InputError, match="its first line's mechanism is"):
        check_release(forgery.folder)


def test_more_noise_than_was_drawn_needs_other_settings(forgery, released):
    """The settings' digest stands in the ledger, and in it the mechanism: all three would have to move."""
    theta = verify_ledger(released / LEDGER).theta_sha256
    more = forgery.header["mechanism"] | {"noise_multiplier": 2.0}
    forgery.edit_manifest(lambda m: m["mechanism"].update(more), honest_digest=False)
    forgery.rebuild_ledger(
        [("begin", None), ("commit", theta)] * ROUNDS, forgery.header | {"mechanism": more}
    )
    forgery.seal(mechanism=more, epsilon=1.0, epsilon_all=1.0)
    with pytest.raises(InputError, match="settings_sha256 is"):
        check_release(forgery.folder)


def test_less_noise_at_an_old_budget_is_refused_even_where_all_files_agree(forgery, released):
    theta = verify_ledger(released / LEDGER).theta_sha256
    less = forgery.header["mechanism"] | {"noise_multiplier": 0.9 * SIGMA}
    forgery.edit_manifest(lambda m: m["mechanism"].update(less))
    digest = read_json(forgery.folder / MANIFEST)["settings_sha256"]
    header = forgery.header | {"mechanism": less, "settings_sha256": digest}
    forgery.rebuild_ledger([("begin", None), ("commit", theta)] * ROUNDS, header)
    own = forgery.certificate["selected_from"][0] | {"noise_multiplier": 0.9 * SIGMA}
    forgery.derive(selected_from=[own, *forgery.certificate["selected_from"][1:]])
    with pytest.raises(PrivacyRefusal, match="was spent"):
        check_release(forgery.folder)


def test_a_ledger_with_an_attempt_more_than_the_certificate_charges_is_refused(forgery, released):
    theta = verify_ledger(released / LEDGER).theta_sha256
    events = [("begin", None), *[("begin", None), ("commit", theta)] * ROUNDS]
    forgery.rebuild_ledger(events, forgery.header)
    with pytest.raises(InputError, match="begun_attempts does not follow"):
        check_release(forgery.seal())
    with pytest.raises(InputError, match="selected_from does not list the run itself"):
        check_release(forgery.derive())
    own = forgery.certificate["selected_from"][0] | {"begun_attempts": ROUNDS + 1}
    forgery.derive(selected_from=[own, forgery.certificate["selected_from"][1]])
    with pytest.raises(PrivacyRefusal, match=r"states epsilon = .* was spent"):
        check_release(forgery.folder)


def test_a_failed_attempt_in_the_ledger_is_refused(forgery, released):
    theta = verify_ledger(released / LEDGER).theta_sha256
    events = [("begin", None), ("failed", None), *[("begin", None), ("commit", theta)] * ROUNDS]
    forgery.rebuild_ledger(events, forgery.header)
    with pytest.raises(PrivacyRefusal, match="a round failed inside the mechanism"):
        check_release(forgery.seal())


def test_an_unclosed_ledger_is_refused(forgery):
    lines = (forgery.folder / LEDGER).read_bytes().splitlines(keepends=True)
    (forgery.folder / LEDGER).write_bytes(b"".join(lines[:-1]))
    with pytest.raises(PrivacyRefusal, match="is not closed"):
        check_release(forgery.seal())


def test_other_weights_than_those_of_the_last_round_are_refused(forgery, finished):
    other = finished.folder / "two" / "adapter" / WEIGHTS
    shutil.copy(other, forgery.folder / WEIGHTS)
    theirs = read_json(finished.folder / "two" / "run.json")
    forgery.edit_manifest(lambda m: m.update({k: theirs[k] for k in ("adapter_sha256", "theta_sha256")}))
    with pytest.raises(InputError, match=r"the hash of its coordinates is .* by .*ledger"):
        check_release(forgery.seal())


STATEMENTS = {
    "a better status": {"assumptions": {"A1": {"status": "enforced", "why": "trust me"}}},
    "less that is not covered": {"not_covered": []},
    "another unit": {"unit": "one person"},
    "another statement": {"statement": "Anonymous."},
    "another study": {"study": "other"},
    "a smaller delta": {"delta": 0.001},
    "a better group statement": {"group": {"prompts": 2, "epsilon": 1.0, "delta": 0.0, "vacuous": False}},
    "a key more": {"approved_by": "nobody"},
}


@pytest.mark.parametrize("case", STATEMENTS)
def test_a_statement_that_the_files_do_not_bear_out_is_refused(forgery, case):
    (key,) = STATEMENTS[case]
    forgery.write_certificate(forgery.certificate | STATEMENTS[case])
    with pytest.raises(InputError, match=rf"certificate\.json: {key} does not follow"):
        check_release(forgery.folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise_multiplier": 1e-200}, "certifies no finite epsilon"),
        ({"noise_multiplier": 0.0}, "sigma: must be positive"),
        ({"begun_attempts": 10**400}, "certifies no finite epsilon"),
        ({"expected": SLOTS + 1}, "is a sampling rate above 1"),
    ],
)
def test_a_look_that_no_accountant_can_charge_is_refused_in_one_line(forgery, change, message):
    other = forgery.certificate["selected_from"][1] | change
    forgery.derive(selected_from=[forgery.certificate["selected_from"][0], other])
    with pytest.raises(InputError, match=rf"certificate\.json: .*{message}"):
        check_release(forgery.folder)


SHAPES = {
    "epsilon": ["8", None, -1, True],
    "bracket": [[1], [1, 2, 3], 7],
    "selected_from": [None, [], [{}], [{"arm": "dp"}]],
    "versions": [None, [], {"promptdp": 1}],
    "files": [{}, None],
    "mechanism": [{}, None],
    "verification": [[], {"rows": None}],
    "not_releasable": ["x", [1]],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in SHAPES.items() for value in values]
)
def test_a_certificate_of_another_form_is_refused_in_one_line(forgery, key, value):
    forgery.write_certificate(forgery.certificate | {key: value})
    with pytest.raises(InputError, match=rf"^{forgery.folder}/"):
        check_release(forgery.folder)


def test_a_run_that_can_not_be_released_is_refused_whatever_its_certificate_says(forgery):
    with pytest.raises(PrivacyRefusal, match="is of a run that can't be released: because"):
        check_release(forgery.derive(not_releasable=["because"]))


def test_another_version_s_certificate_names_the_version_to_check_with(forgery):
    forgery.derive(versions=forgery.certificate["versions"] | {"promptdp": "9.9"})
    (forgery.folder / PAGE).write_text("other words")
    with pytest.raises(InputError, match=r"check with promptdp 9\.9, which made it"):
        check_release(forgery.folder)


def test_the_command_line_tells_damage_from_a_budget_that_does_not_hold(released, forgery, capsys):
    from promptdp.cli import main

    main(["certificate", "--check", str(released)])
    assert capsys.readouterr().out.count("\n") == 1
    LOWERED["epsilon"](forgery)
    for folder, status in ((forgery.folder, 3), (released / CERTIFICATE, 2)):
        with pytest.raises(SystemExit) as leaving:
            main(["certificate", "--check", str(folder)])
        error = capsys.readouterr().err
        assert leaving.value.code == status and error.count("\n") == 1
