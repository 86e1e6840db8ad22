import json

import pytest

from kafkatx.outputs.dump_json import jackson, jackson_with_floats


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (10485760.0, "1.048576E7"),
        (99999999.99999999, "9.999999999999999E7"),
        (-1e22, "-1.0E22"),
        (123456789.125, "1.23456789125E8"),
        (7, "7"),
    ],
)
def test_doubles_are_written_as_java_does(number, text):
    assert jackson_with_floats({"a": "x", "value": number, "b": None}) == f'{{"a":"x","value":{text},"b":null}}'


def test_control_characters_are_escaped_in_capitals_and_nothing_else_is():
    value = {"a": '\x1f\x0b\b\t\n\f\r"\\/', "b": r"\u001f", "c": "\x7fü\u2028"}
    assert jackson(value) == r'{"a":"\u001F\u000B\b\t\n\f\r\"\\/","b":"\\u001f","c":"' + "\x7fü\u2028" + '"}'
    assert json.loads(jackson(value)) == value
