"""Errors about sizes name whose limit it was, as far as they tell."""

import pytest

from kafkatx.text.error_messages.sizes import Limiter, TooLargeSize, size_in

SERIALIZED = "The message is 4089 bytes when serialized which is larger than"
OWN = "you have configured with the"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (f"{SERIALIZED} 2000, which is the value of the max.request.size configuration.",
         (Limiter.request, 4089, 2000)),
        (f"{SERIALIZED} the maximum request size {OWN} max.request.size configuration.", (Limiter.request, 4089)),
        (f"{SERIALIZED} the maximum request size {OWN} max_request_size configuration", (Limiter.request, 4089)),
        (f"{SERIALIZED} the total memory buffer {OWN} buffer.memory configuration.", (Limiter.memory, 4089)),
        (
            "The record batch size in the append to orders-3 is 1200000 bytes which exceeds the maximum configured "
            "value of 1048588.",
            (Limiter.topic, 1200000, 1048588, "orders-3"),
        ),
        (
            "Message batch size is 1200000 bytes in append topartition orders-3 which exceeds the maximum configured "
            "size of 1048588.",
            (Limiter.topic, 1200000, 1048588, "orders-3"),
        ),
        (
            "Message batch size is 1200000 bytes in append to partition orders-3, which exceeds the maximum configured "
            "segment size of 1000000.",
            (Limiter.segment, 1200000, 1000000, "orders-3"),
        ),
        ("The request included a message larger than the max message size the server will accept.", (Limiter.topic,)),
        ("The request included message batch larger than the configured segment size on the server.",
         (Limiter.segment,)),
        ("Broker: Message size too large", (Limiter.unknown,)),
        ("", (Limiter.unknown,)),
    ],
)  # fmt: skip
def test_whose_limit_a_size_was_above(text: str, size: tuple):
    assert size_in(f"o.a.k.common.errors.RecordTooLargeException: {text}") == TooLargeSize(*size)
