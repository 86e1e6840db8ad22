r"""Lines of logs with what pasting does to them: quotes, HTML, escapes, chat, JSON of a shipper, foreign prefixes."""

import pytest

from kafkatx.text.printed.logged import logged

LINE = "2024-03-04 10:11:12,345 ERROR [main] com.example.Pay - transaction of pay-1 failed"
FRAME = "at org.apache.kafka.clients.producer.KafkaProducer.<init>(KafkaProducer.java:1)"


@pytest.mark.parametrize(
    "pasted",
    [
        LINE,
        f"> {LINE}",
        f">> {LINE}",
        f"`{LINE}`",
        f"- {LINE}",
        f"3. {LINE}",
        f"// {LINE}",
        f'"{LINE}"',
        f"\u201c{LINE}\u201d",
        f"{LINE}<br>",
        f"<p><code>{LINE}</code></p>",
        f"**{LINE}**",
        LINE.replace("-", r"\-").replace("[", r"\[").replace("]", r"\]"),
        LINE.replace(" ", "\u00a0"),
        f"[10:42] Kim: {LINE}",
        f"billing-5f7d9c6b8-x2lkj billing {LINE}",
    ],
)
def test_what_stands_around_a_line_is_taken_off(pasted: str) -> None:
    assert logged(pasted) == (LINE,)


@pytest.mark.parametrize(
    "line",
    [
        "It broke at 2024-03-04 10:11:12 when the pod went away",
        "app-1.log:2024-03-04 10:11:12,345 INFO [main] com.example.Pay - begin",
        "pay-1  | 2024-03-04 10:11:12,345 INFO [main] com.example.Pay - begin",
        f"\t{FRAME}",
    ],
)
def test_what_says_something_stays(line: str) -> None:
    assert logged(line) == (line,)


def test_html_of_several_lines_is_several_lines() -> None:
    assert logged(f"<pre>{LINE}<br>&nbsp;&nbsp;{FRAME.replace('<', '&lt;').replace('>', '&gt;')}</pre>") == (
        LINE,
        f"  {FRAME}",
    )


def test_a_field_of_an_object_is_the_lines_in_it() -> None:
    assert logged(f'  "stack_trace": "java.lang.Error: x\\n\\t{FRAME}\\n",') == ("java.lang.Error: x", f"\t{FRAME}")
