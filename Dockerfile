# The gateway as an image: built with a C++ toolchain, run without one, by a user who is not root.
FROM node:26-slim AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends g++ make python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
# Without descriptors.node a program would inherit the descriptors of other terminals.
RUN npm run build && test -f dist/descriptors.node && npm prune --omit=dev --no-audit --no-fund

FROM node:26-slim
# tini reaps what terminals leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir /data && chown node:node /data \
  && ln -s /app/dist/src/main.js /usr/local/bin/pty-gateway
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --start-interval=1s \
  CMD ["node", "-e", "const s = process.env.TLS_CERT_FILE ? 'https' : 'http'; require(`node:${s}`).get(`${s}://127.0.0.1:${process.env.PORT}/healthz`, { rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "pty-gateway"]
CMD ["serve"]
