"""Lines as programs and people write them in which a secret stands: 200 and more, each with a secret of its own.

A line is something that tells of a failure, so that it is evidence, with the secret in the shapes of properties, JSON,
YAML, URLs, headers, connection strings, command lines and the ways in which languages print objects.
"""

from collections.abc import Iterator

NAMES = (
    "password", "Password", "passwd", "pwd", "passphrase", "secret", "client_secret", "clientSecret", "token",
    "access_token", "refreshToken", "id_token", "apikey", "api_key", "api-key", "x-api-key", "sasl.password",
    "sasl_plain_password", "SASL_PASSWORD", "ssl.key.password", "ssl.keystore.password", "sasl.login.pwd",
    "credential", "credentials", "aws_secret_access_key", "secretAccessKey", "SharedAccessKey", "AccountKey",
    "private_key", "session_token",
)  # fmt: skip
SHAPES = (
    "{name}={secret}",
    "{name}: {secret}",
    '"{name}":"{secret}"',
    "'{name}': '{secret}'",
    "--{name} {secret}",
    '{name} = "{secret}"',
)
OTHERS = (
    "Authorization: Bearer {secret}",
    "authorization=[Basic {secret}]",
    "Proxy-Authorization: Basic {secret}",
    "header 'Bearer {secret}' was refused",
    "https://svc:{secret}@registry.example:8081/subjects",
    "jdbc:postgresql://app:{secret}@db:5432/orders",
    "jdbc:mysql://db/orders?user=app&password={secret}&useSSL=true",
    "mongodb+srv://app:{secret}@cluster0.example/orders",
    "amqp://guest:{secret}@mq:5672/%2f",
    "Endpoint=sb://ns.example/;SharedAccessKeyName=Root;SharedAccessKey={secret}",
    "https://acc.blob.example/c/b?sv=2022&sig={secret}&se=2026",
    "https://b.s3.example/k?X-Amz-Algorithm=A&X-Amz-Signature={secret}&X-Amz-Date=1",
    "https://b.s3.example/k?X-Amz-Security-Token={secret}&X-Amz-Date=1",
    'PlainLoginModule required username="app" password="{secret}";',
    "ScramLoginModule required username=app password={secret};",
    "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required password='{secret}';",
    "sasl: { mechanism: 'plain', username: 'app', password: '{secret}' }",
    "Config{Username:app Password:{secret} TLS:true}",
    "SaslConfig(username=app, password={secret}, mechanism=PLAIN)",
    '&sarama.Config{User:"app", Password:"{secret}"}',
    "Set-Cookie: JSESSIONID={secret}; Path=/",
    "Cookie: session={secret}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ{secret}.c2lnbmF0dXJl{secret}",
    "ghp_{secret}{secret}{secret}",
    "xoxb-1234-{secret}{secret}",
)
HEADS = (
    "2026-02-01 10:00:{second:02d},123 ERROR [main] com.acme.Orders - commit failed, {told}: "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer",
    "[2026-02-01 10:00:{second:02d},123] WARN [Producer clientId=p-{number}, transactionalId=orders-{number}] Got "
    "error produce response with correlation id 9 on topic-partition orders-0, retrying (5 attempts left). Error: "
    "NOT_LEADER_OR_FOLLOWER. Error Message: {told} (org.apache.kafka.clients.producer.internals.Sender)",
    "org.apache.kafka.common.KafkaException: {told}",
    "%3|1770000000.123|FAIL|rdkafka#producer-{number}| [thrd:sasl_ssl://b:9092/bootstrap]: SASL authentication error: "
    "{told}",
)


def secret_of(number: int) -> str:
    """The secret of a line: nothing else is written like it."""
    return f"Zq7{number:04d}xW9kV"


def lines() -> Iterator[str]:
    """Yield the lines, each with `secret_of` its number."""
    told = [shape.replace("{name}", name) for name in NAMES for shape in SHAPES]
    for number, text in enumerate([*told, *OTHERS]):
        head = HEADS[number % len(HEADS)].format(second=number % 60, number=number, told="{told}")
        yield head.replace("{told}", text.replace("{secret}", secret_of(number)))
