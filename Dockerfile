# The service (API and worker, by their settings), and beside it, as a target of its own, the sandbox's doubles.
#
#   docker build --tag orchestrator .                            the service: the last stage
#   docker build --target sandbox --tag orchestrator-sandbox .   token issuer and provider doubles, for development
#
# The libraries that send traces are in it, so that TRACES_ENDPOINT is all that it takes.
# Every library is pinned with its hash in requirements/, and the base image by its digest.

FROM python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS base
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1


FROM base AS building
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY requirements/ requirements/
RUN python -m pip install --require-hashes --only-binary :all: --requirement requirements/build.txt \
    && python -m venv --without-pip /opt/orchestrator \
    && python -m pip --python /opt/orchestrator/bin/python install --require-hashes --only-binary :all: \
    --requirement requirements/production-otlp.txt
COPY packages/ packages/
COPY apps/service/ apps/service/
RUN python -m pip wheel --no-deps --no-build-isolation --no-index --wheel-dir wheels \
    packages/orchestrator-domain packages/orchestrator-postgres packages/orchestrator-http \
    packages/orchestrator-worker apps/service \
    && python -m pip --python /opt/orchestrator/bin/python install --no-deps --no-index wheels/*.whl


FROM building AS building-sandbox
RUN python -m venv --without-pip /opt/sandbox \
    && python -m pip --python /opt/sandbox/bin/python install --require-hashes --only-binary :all: \
    --requirement requirements/sandbox.txt
COPY apps/sandbox/ apps/sandbox/
RUN python -m pip wheel --no-deps --no-build-isolation --no-index --wheel-dir wheels apps/sandbox \
    && python -m pip --python /opt/sandbox/bin/python install --no-deps --no-index wheels/*.whl


FROM base AS sandbox
LABEL org.opencontainers.image.title="orchestrator-sandbox" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=building-sandbox /opt/sandbox/ /opt/sandbox/
USER 10001:10001
EXPOSE 9000 9001
ENTRYPOINT ["/opt/sandbox/bin/orchestrator-sandbox"]
CMD ["mocks", "--host", "0.0.0.0", "--issuer-port", "9000", "--providers-port", "9001"]


FROM base AS service
LABEL org.opencontainers.image.title="orchestrator" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=building /opt/orchestrator/ /opt/orchestrator/
# Inside a container loopback reaches nobody; which ports are published, and to whom, is the platform's to say.
ENV LISTEN_HOST=0.0.0.0 LISTEN_PORT=8080 MANAGEMENT_HOST=0.0.0.0 MANAGEMENT_PORT=9090
USER 10001:10001
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["/opt/orchestrator/bin/orchestrator", "health", "ready"]
ENTRYPOINT ["/opt/orchestrator/bin/orchestrator"]
CMD ["serve"]
