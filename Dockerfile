# docker build -t contact_ddp_ros . && docker run --rm -it contact_ddp_ros demo --no-video
FROM debian:13-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends build-essential ca-certificates git libosmesa6 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /contact_ddp_ros
COPY . .
# Sets up .venv and compiles for this processor, so that a container starts at once.
RUN ./run demo --no-video --duration 4 --out /tmp/first
ENTRYPOINT ["./run"]
CMD ["--help"]
