# syntax=docker/dockerfile:1
# Two images from the files of this repository:
#   docker build --tag coa .                             everything that runs on a CPU
#   docker build --tag coa:cuda --build-arg VARIANT=cuda .    and the trainer, for NVIDIA GPUs
# docs/00-install.md says how to use them.
ARG VARIANT=cpu
ARG NODE=24-bookworm-slim

# The package, exactly as it is published.
FROM node:${NODE} AS package
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
COPY scripts/node/package.json scripts/node/
RUN npm ci --ignore-scripts
COPY . .
RUN mkdir /package && npm pack --pack-destination /package

FROM node:${NODE} AS cpu
ENV XDG_CACHE_HOME=/var/cache/coa
COPY --from=package /package /tmp/package
RUN npm install --global /tmp/package/*.tgz && npm cache clean --force && rm -r /tmp/package
# The engine, so that no container downloads it. Containers may run as any user.
RUN coa engine install && npm cache clean --force && chmod -R a+rwX "$XDG_CACHE_HOME"
USER 1000
WORKDIR /work
ENTRYPOINT ["coa"]

# PyTorch's wheels bring CUDA; the host needs only NVIDIA's driver and container toolkit. Kernels are compiled with gcc.
FROM cpu AS cuda
USER root
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/trainer \
    && /opt/trainer/bin/pip install --no-cache-dir "$(npm root --global)/chain-of-agents/trainer"
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000

FROM ${VARIANT}
