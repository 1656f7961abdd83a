"""Somebody else's release, checked with its folder alone: what was changed, and what was forged."""

import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from promptdp.assurance.check import FILES, check_release
from promptdp.assurance.page import CERTIFICATE, PAGE
from promptdp.assurance.published import CONFIG, LEDGER, MANIFEST, WEIGHTS
from promptdp.errors import InputError, PrivacyRefusal
from promptdp.files import read_json, sha256_bytes, write_json
from promptdp.policy import lora
from promptdp.privacy.ledger import verify_ledger
from tests.assurance.finished import Forgery
from tests.training.conftest import ROUNDS, SLOTS, calibration

SIGMA = calibration()["sigma"]


def test_a_release_holds_and_one_line_says_what_was_checked(released):
    line = check_release(released)
    assert "\n" not in line and line.startswith(f"{released}: holds: 6 files agree, ledger closed after 4 ")
    assert "epsilon 8.0000 at delta 0.01 recomputed by two accountants" in line
    assert "for the 2 runs that the curator lists" in line
    assert f"certificate {read_json(released / CERTIFICATE)['sha256']}" in line


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
    own = forgery.certificate["selected_from"][0] | {"charged_attempts": ROUNDS + 1}
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


NOT_THE_SAME = {
    "a seed that is true": {"seed": True},
    "a seed with a point": {"seed": 1.0},
    "attempts with a point": {"begun_attempts": float(ROUNDS)},
}


@pytest.mark.parametrize("case", NOT_THE_SAME)
def test_a_value_that_python_takes_for_the_same_is_refused(forgery, case):
    (key,) = NOT_THE_SAME[case]
    assert forgery.certificate[key] == NOT_THE_SAME[case][key]
    with pytest.raises(InputError, match=rf"certificate\.json: {key} does not follow"):
        check_release(forgery.seal(**NOT_THE_SAME[case]))


MARKUP = "0.1 installed.\n\n# **epsilon = 0.001**, audited"
ROW = {"id": "alone", "source": "(A2)", "verdict": "pass", "measured": 0.0}


def cited(**changes):
    return {"verification": {"sha256": "0" * 64, "rows": [ROW | changes]}}


FREE_TEXT = {
    "a version": {"versions": {"promptdp": MARKUP, "dp-accounting": "0.6.0", "opacus": "1.6.0"}},
    "a version in words": {"versions": {"promptdp": "audited", "dp-accounting": "0.6.0", "opacus": "1.6.0"}},
    "another version": {
        "versions": {"promptdp": "0.1", "dp-accounting": "0.6.0", "opacus": "1.6.0", "x": "1"}
    },
    "a row's name": cited(id="NIST certified this"),
    "a row's source": cited(source="(A1)(A2) <b>audited</b>"),
    "a row's source on two lines": cited(source="(A2)\nx"),
    "a row's value": cited(measured="[here](http://x)"),
    "a row's verdict": cited(verdict="perfect"),
    "a row's key": cited(audited="yes"),
    "a record's hash": {"verification": {"sha256": "audited", "rows": [ROW]}},
    "an obstacle": {"not_releasable": [MARKUP]},
    "a look's arm": {"nonprivate_looks": [{"arm": MARKUP}]},
}


@pytest.mark.parametrize("case", FREE_TEXT)
def test_no_free_text_gets_into_a_certificate_or_an_error(forgery, case):
    forgery.write_certificate(forgery.certificate | FREE_TEXT[case])
    with pytest.raises(InputError, match=r"certificate\.json: (versions|verif|not_rel|nonpr)") as caught:
        check_release(forgery.folder)
    assert str(caught.value).isprintable() and "audited" not in str(caught.value).replace(
        "rows.0.audited", ""
    )


def test_a_key_with_a_control_character_is_shown_without_it(forgery):
    forgery.write_certificate(forgery.certificate | {"\x1b[2J\n": 1})
    with pytest.raises(InputError) as caught:
        check_release(forgery.folder)
    assert str(caught.value).isprintable()


def test_cited_rows_are_stated_to_be_the_curator_s_word(forgery):
    forgery.derive(**cited())
    check_release(forgery.folder)
    assert "the curator's word" in (forgery.folder / PAGE).read_text()
    assert "Verified by alone." in (forgery.folder / PAGE).read_text()


def test_half_of_a_surrogate_pair_is_refused_in_one_line(forgery):
    path = forgery.folder / CERTIFICATE
    path.write_text(path.read_text().replace('"promptdp": "', '"promptdp": "\\ud800'))
    with pytest.raises(InputError, match=r"certificate\.json: not valid JSON"):
        check_release(forgery.folder)


def test_a_bottomless_line_of_a_ledger_is_refused_in_one_line(forgery):
    (forgery.folder / LEDGER).write_bytes(b'{"header":' + b"[" * 200_000 + b"\n")
    with pytest.raises(InputError, match=r"ledger\.jsonl:1: the line is not JSON"):
        check_release(forgery.seal())


@pytest.mark.parametrize("change", [{"note": "batches of 3, 4, 5"}, {"seed": True}, {"seed": 1.0}])
def test_a_first_line_of_a_ledger_that_says_something_else_is_refused(forgery, released, change):
    theta = verify_ledger(released / LEDGER).theta_sha256
    forgery.rebuild_ledger([("begin", None), ("commit", theta)] * ROUNDS, forgery.header | change)
    with pytest.raises(InputError, match=r"ledger\.jsonl: its first line"):
        check_release(forgery.seal())


def test_a_manifest_that_says_more_is_refused(forgery, released):
    forgery.edit_manifest(lambda m: m.update(batch_sizes=[1, 2, 3]))
    header = forgery.header | {"settings_sha256": read_json(forgery.folder / MANIFEST)["settings_sha256"]}
    theta = verify_ledger(released / LEDGER).theta_sha256
    forgery.rebuild_ledger([("begin", None), ("commit", theta)] * ROUNDS, header)
    with pytest.raises(InputError, match=r"manifest\.json: batch_sizes: Extra"):
        check_release(forgery.seal())


# --- what PEFT would read in an adapter ---


CONFIGS = {
    "another scale": {"use_rslora": True},
    "other modules": {"modules_to_save": ["lm_head"]},
    "another base": {"base_model_name_or_path": "evil/model"},
    "other words": {"auto_mapping": {"x": "secret"}},
    "a key more": {"norms": None},
    "a pattern of ranks": {"rank_pattern": {"q_proj": 8}},
    "a rank that is true": {"r": True},
    "a rank with a point": {"r": 4.0},
    "a false that is zero": {"use_dora": 0},
    "another version": {"peft_version": "0.1"},
    "another bias": {"bias": "all"},
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_configuration_that_training_does_not_write_is_refused(forgery, case):
    write_json(forgery.folder / CONFIG, read_json(forgery.folder / CONFIG) | CONFIGS[case])
    with pytest.raises(InputError, match=r"adapter_config\.json: "):
        check_release(forgery.seal())


def test_a_configuration_without_a_key_is_refused(forgery):
    config = read_json(forgery.folder / CONFIG)
    del config["revision"]
    write_json(forgery.folder / CONFIG, config)
    with pytest.raises(InputError, match=r"adapter_config\.json: its keys"):
        check_release(forgery.seal())


def renamed(old, new):
    return lambda tensors: {name.replace(old, new): tensor for name, tensor in tensors.items()}


def transposed(tensors):
    return {name: tensor.T.copy() if "q_proj" in name else tensor for name, tensor in tensors.items()}


def flat(tensors):
    return {name: tensor.reshape(-1) for name, tensor in tensors.items()}


TENSORS = {
    "a target renamed": renamed("q_proj", "q_xxxx"),
    "a target that is a part of a name": renamed(".q_proj", ".my_q_proj"),
    "a matrix renamed": renamed("lora_B", "lora_C"),
    "a word before": renamed("base_model.model.", "base_model.model.audited by NIST."),
    "a word after": renamed(".weight", ".weights"),
    "another root": renamed("base_model.", "base_modex."),
    "rows for columns": transposed,
    "vectors": flat,
}


@pytest.mark.parametrize("case", TENSORS)
def test_tensors_that_no_adapter_of_these_targets_has_are_refused(forgery, case):
    """The hash of the coordinates reads no names, and is the same."""
    tensors = TENSORS[case](load((forgery.folder / WEIGHTS).read_bytes()))
    replace_weights(forgery, save(tensors, metadata={"format": "pt"}))
    with pytest.raises(InputError, match=r"adapter_model\.safetensors: its tensors are not those"):
        check_release(forgery.seal())


@pytest.mark.parametrize("metadata", [None, {}, {"format": "pt", "norms": "3"}, {"format": "tf"}])
def test_weights_with_other_metadata_are_refused(forgery, metadata):
    replace_weights(forgery, save(load((forgery.folder / WEIGHTS).read_bytes()), metadata=metadata))
    with pytest.raises(InputError, match=r"adapter_model\.safetensors: holds more than its tensors"):
        check_release(forgery.seal())


def replace_weights(forgery, content):
    (forgery.folder / WEIGHTS).write_bytes(content)
    forgery.edit_manifest(lambda m: m.update(adapter_sha256=sha256_bytes(content)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise_multiplier": 1e-200}, "(certifies no finite epsilon|sigma: 1e-200 is outside)"),
        ({"noise_multiplier": 0.0}, "sigma: must be positive"),
        ({"charged_attempts": 10**400}, "certifies no finite epsilon"),
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
    with pytest.raises(PrivacyRefusal, match="is of a run that can't be released: records share"):
        check_release(forgery.derive(not_releasable=["records share batches"]))


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
