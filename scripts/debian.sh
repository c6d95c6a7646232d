# shellcheck shell=bash
# Systems of Debian in folders, to build and test packages in. Sourced after env.sh. Needs root.
#
# A system sees the clone, read-only, and the Rust toolchain of this machine under the same paths as outside, and its own folder for
# builds as /cache.

# Returns false and prints why, if this machine cannot make a system of Debian.
debian_missing() {
    mkdir -p "$CACHE/logs"
    if [ "$(id -u)" -ne 0 ]; then
        echo "a system of Debian needs root"
    elif ! command -v debootstrap >/dev/null && ! (apt-get update && apt-get install --yes debootstrap) >"$CACHE/logs/debootstrap.log" 2>&1; then
        echo "debootstrap cannot be installed"
    elif ! unshare --mount --pid --fork true 2>/dev/null; then
        echo "this machine allows no namespaces"
    else
        return 0
    fi
    return 1
}

# debian_system NAME SUITE: prints the folder of a system of SUITE, which stays in the cache.
debian_system() {
    local name=$1 suite=$2 folder=$CACHE/debian/$1 new reason
    if [ ! -d "$folder" ]; then
        reason=$(debian_missing) || die "$reason"
        say "a system of Debian $suite: $name"
        mkdir -p "$CACHE/debian"
        new=$(mktemp -d "$CACHE/debian/new.XXXXXX")
        chmod 755 "$new"
        (trap 'rm -rf --one-file-system "$new"' EXIT && run_logged "$CACHE/logs/debian-$name.log" debootstrap --variant=minbase "$suite" "$new" &&
            mv "$new" "$folder") || exit 1
    fi
    echo "$folder"
}

# debian_install FOLDER PACKAGE...
debian_install() {
    debian_run "$1" apt-get update
    debian_run "$1" apt-get install --yes --no-install-recommends --option Dpkg::Options::=--force-confold "${@:2}"
}

# debian_run FOLDER COMMAND...: runs a command as root in the system. Its mounts and processes end with it.
debian_run() {
    local folder=$1 builds toolchain registry
    shift
    need rustc rustc cargo
    builds=$CACHE/debian/builds-$(sed -n 's/^VERSION_CODENAME=//p' "$folder/etc/os-release")
    toolchain=$(rustc --print sysroot)
    case $toolchain in /usr | /usr/local) die "the Rust toolchain is in $toolchain, where it would hide files of Debian" "Install it with rustup" ;; esac
    registry=${CARGO_HOME:-$HOME/.cargo}
    mkdir -p "$builds" "$folder/cache" "$folder$ROOT" "$folder$toolchain" "$folder$registry"
    cp --dereference /etc/resolv.conf "$folder/etc/resolv.conf"
    unshare --mount --pid --fork --kill-child bash -euc '
        folder=$1 root=$2 builds=$3 toolchain=$4 registry=$5
        shift 5
        mount --bind "$root" "$folder$root" && mount -o remount,bind,ro "$folder$root"
        mount --bind "$registry" "$folder$registry"
        mount --bind "$toolchain" "$folder$toolchain" && mount -o remount,bind,ro "$folder$toolchain"
        mount --bind "$builds" "$folder/cache"
        mount -t proc proc "$folder/proc"
        mount --rbind /dev "$folder/dev"
        exec chroot "$folder" env --ignore-environment HOME=/cache TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive CARGO_INCREMENTAL=0 \
            REGROUND_CACHE=/cache CARGO_HOME="$registry" PATH="$toolchain/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@"
    ' debian_run "$folder" "$ROOT" "$builds" "$toolchain" "$registry" "$@"
}

# Downloads the crates, so that a build in a system needs neither the network nor the certificates of this machine.
fetch_crates() {
    cargo fetch --quiet --locked --manifest-path "$ROOT/Cargo.toml" --target "$(rustc --print host-tuple)"
}

# debian_package SUITE PG FOLDER: builds the Debian package for PostgreSQL PG and copies it into the folder.
debian_package() {
    local suite=$1 pg=$2 system built=$CACHE/debian/builds-$1/packages/$2
    system=$(debian_system "$suite-build" "$suite")
    fetch_crates
    rm -rf "$built"
    say "the package for PostgreSQL $pg, built in Debian $suite"
    run_logged "$CACHE/logs/package-$pg.log" debian_run "$system" env MAINTAINER="${MAINTAINER:-}" DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}" \
        SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct)}" "$ROOT/packaging/build-in-debian.sh" "$pg" "/cache/packages/$pg"
    cp "$built"/* "$3"
}
