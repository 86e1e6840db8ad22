# kafkatx without Spark, for a user that is not root. docs/install.md shows how to run it over evidence mounted read only.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY kafkatx kafkatx
RUN python -m venv /opt/kafkatx \
    && /opt/kafkatx/bin/python -m pip install --no-cache-dir . \
    && /opt/kafkatx/bin/python -m pip uninstall --yes pip

FROM python:3.13-slim
# The home is for compiled kernels and patterns; without one both are compiled anew in each run.
RUN useradd --uid 10001 --create-home kafkatx
COPY --from=build /opt/kafkatx /opt/kafkatx
USER 10001
WORKDIR /evidence
ENTRYPOINT ["/opt/kafkatx/bin/kafkatx"]
CMD ["--help"]
