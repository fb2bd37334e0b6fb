# The gateway as an image: built with a C++ toolchain, run without one and without npm, by a user who is not root.
# Node's LTS line, and the Debian that both stages share: what is compiled in the first runs in the second.
ARG NODE=24.21.0
FROM node:${NODE}-trixie-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends g++ make python3 tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
# Without descriptors.node a program would inherit the descriptors of other terminals.
RUN npm run build && test -f dist/descriptors.node \
  && npm prune --omit=dev --no-audit --no-fund && node scripts/slim.mjs node_modules \
  && strip --strip-unneeded /usr/local/bin/node

FROM debian:13.8-slim
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="pty-gateway" \
  org.opencontainers.image.description="Shares live terminals between people and agents" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
RUN useradd --uid 1000 --user-group --no-log-init --home-dir /data --shell /bin/bash gateway \
  && mkdir /data && chown gateway:gateway /data \
  && ln -s /app/dist/src/main.js /usr/local/bin/pty-gateway
# tini, which needs no library, reaps what terminals leave behind.
COPY --from=build /usr/bin/tini-static /usr/local/bin/tini
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /usr/local/LICENSE /usr/share/doc/node/LICENSE
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
# In numbers, so that Kubernetes sees that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "const s = process.env.TLS_CERT_FILE ? 'https' : 'http'; require(`node:${s}`).get(`${s}://127.0.0.1:${process.env.PORT}/healthz`, { rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "pty-gateway"]
CMD ["serve"]
