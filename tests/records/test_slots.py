import pytest

from promptdp.errors import InputError
from promptdp.records.record import Record
from promptdp.records.slots import Slots

RECORDS = [Record(str(i), "q", "1") for i in range(3)]


@pytest.mark.parametrize("present", [0, 1, 3])
def test_records_fill_the_first_slots_and_the_rest_are_absent(present):
    slots = Slots.fill(3, RECORDS[:present])
    assert len(slots) == 3
    assert [slots[i] for i in range(3)] == RECORDS[:present] + [None] * (3 - present)


def test_more_records_than_slots_is_bad_input_that_names_the_slots_alone():
    with pytest.raises(InputError) as caught:
        Slots.fill(2, RECORDS)
    assert str(caught.value).startswith("slots 2:") and "3" not in str(caught.value)


def test_the_text_of_slots_does_not_tell_how_many_are_filled():
    assert repr(Slots.fill(3, RECORDS)) == repr(Slots.fill(3, []))
