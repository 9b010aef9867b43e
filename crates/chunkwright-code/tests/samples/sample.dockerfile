# syntax=docker/dockerfile:1
# Образ: builds and runs it.
ARG VERSION=1.0

FROM rust:1-slim AS build
WORKDIR /src
# what changes least comes first
COPY Cargo.toml Cargo.lock ./
RUN apt-get update \
    && apt-get install -y \
        pkg-config \
    && cargo fetch
COPY . .
RUN cargo build --release

FROM debian:stable-slim
LABEL title="образ" \
      version="$VERSION"
ENV PORT=80 HOME=/srv
COPY --from=build /src/target/release/app /usr/bin/app
EXPOSE 80/tcp
USER app
HEALTHCHECK CMD curl -f http://localhost/ || exit 1
ENTRYPOINT ["/usr/bin/app"]
CMD ["--serve"]
