"""How nbval compares outputs: what a processor may change passes, what a mistake changes does not."""

from __future__ import annotations

import importlib.util

from nbformat import v4
from tools.notebooks import pairs

_spec = importlib.util.spec_from_file_location("comparison", pairs.ROOT / "notebooks" / "conftest.py")
comparison = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(comparison)

SAME = {
    "0.5414529675558116": "0.5414529675558126",
    "5.264012995322622e-05": "5.2640129953231414e-05",
    "0.1781470605": "0.1781471077",
    "tensor([1., 0.123456, -3.000001])": "tensor([1., 0.123457, -3.000000])",
    "from 0.1234 to 5": "from 0.1235 to 5",
    "9.999999e-01": "1.000000e+00",
}
OTHER = {
    "16": "17",
    "0.97": "0.98",
    "1.00": "0.99",
    "0.1234": "0.1236",
    "0.5414": "-0.5414",
    "AP 0.541453": "mAP 0.541453",
    "1.5 2.5": "1.5",
    "nan": "0.5",
    "1.0000001e-5": "1.0000001e-6",
}


def test_the_last_digits_are_the_processors_and_what_means_something_else_is_not_settled():
    assert {found: comparison.settled(found, committed) for found, committed in SAME.items()} == SAME
    for found, committed in OTHER.items():
        assert comparison.settled(found, committed) != committed, found


def test_numbers_are_settled_in_streams_results_and_data_and_nothing_else_is_touched():
    found = [v4.new_output("stream", text="a 0.12345678\n"), v4.new_output("display_data", {"text/plain": "0.2500001"})]
    committed = [v4.new_output("stream", text="a 0.12345679\n"), v4.new_output("display_data", {"text/plain": "0.25"})]
    assert comparison.settled_outputs(found, committed) == committed and found[0].text == "a 0.12345678\n"
