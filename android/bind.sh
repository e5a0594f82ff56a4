#!/usr/bin/env bash
# Binds client/mobile for Android: makes what the library embeds.
#
#   ./bind.sh [OUT.aar]    default library/libs/zofl-mobile.aar
#
# OUT.aar is all that an app in Java needs that has no use for the Kotlin library. The
# library takes what is beside it: the same classes as OUT.jar, their sources, and the
# native libraries in the folder jni.
#
# It needs software that only Google may distribute: the SDK with a platform, in
# ANDROID_HOME, and the NDK r28 or newer, there or in ANDROID_NDK_HOME:
#
#   sdkmanager "platforms;android-36" "ndk;28.2.13676358"
#
# TARGET lists the processors, by default android/arm64,android/arm,android/amd64. Each has a
# library of about 9 MB, 3.6 MB compressed; a phone gets only its own from Play.
#
# The script checks the result: native libraries must be aligned to pages of 16 KiB, as Play
# requires; everything that client/mobile exports must be bound; the AAR must contain the
# rules that keep R8 from removing what native code calls.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off

out=${1:-library/libs/zofl-mobile.aar}
[[ $out == *.aar ]] || { printf 'bind.sh: OUT is "%s": give a name that ends in .aar\n' "$out" >&2; exit 1; }
target=${TARGET:-android/arm64,android/arm,android/amd64}
min_ndk=28 # in earlier revisions the NDK's own libraries are not aligned
min_api=24 # minSdk of the library

fail() { printf 'bind.sh: %s\n' "$*" >&2; exit 1; }
need() { command -v "$1" >/dev/null || fail "$1 is missing: install $2"; }

# ndk prints the folder of the NDK that gomobile will use.
ndk() {
	if [ -n "${ANDROID_NDK_HOME:-}" ]; then
		echo "$ANDROID_NDK_HOME"
	else
		find "$ANDROID_HOME/ndk" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort -V | tail -n 1 || true
	fi
}

[ -n "${ANDROID_HOME:-}" ] || fail "ANDROID_HOME is not set: install Google's SDK (https://developer.android.com/studio#command-line-tools-only), set it to the SDK's folder, and run sdkmanager \"platforms;android-36\" \"ndk;28.2.13676358\""
[ -d "$ANDROID_HOME" ] || fail "ANDROID_HOME is $ANDROID_HOME, which is not a folder: set it to the SDK's"
ls "$ANDROID_HOME"/platforms/android-*/android.jar >/dev/null 2>&1 ||
	fail "$ANDROID_HOME has no platform: run sdkmanager \"platforms;android-36\""
ndk=$(ndk)
[ -f "$ndk/source.properties" ] ||
	fail "there is no NDK in ${ndk:-$ANDROID_HOME/ndk}, nor another in ANDROID_NDK_HOME: run sdkmanager \"ndk;28.2.13676358\""
revision=$(sed -n 's/^Pkg.Revision *= *//p' "$ndk/source.properties")
[[ $revision =~ ^[0-9]+ ]] || fail "$ndk/source.properties has no Pkg.Revision: install the NDK again"
[ "${revision%%.*}" -ge "$min_ndk" ] ||
	fail "the NDK in $ndk is revision $revision: r$min_ndk or newer is needed for pages of 16 KiB: run sdkmanager \"ndk;28.2.13676358\""
readelf=$(ls "$ndk"/toolchains/llvm/prebuilt/*/bin/llvm-readelf 2>/dev/null | head -n 1 || true)
[ -n "$readelf" ] || fail "$ndk has no llvm-readelf: install the NDK again"
need go "Go (https://go.dev/dl)"
need javac "a JDK of 17 or newer"
need unzip unzip

# aligned LIBRARY: succeeds if each of its segments is aligned to 16 KiB or more.
aligned() {
	local align
	for align in $("$readelf" -lW "$1" | awk '$1 == "LOAD" { print $NF }'); do
		[ $((align)) -ge 16384 ] || return 1
	done
	[ -n "${align:-}" ]
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# gomobile finds gobind through PATH: there it gets one that glue.sh follows.
go build -o "$work/bin/" golang.org/x/mobile/cmd/gomobile golang.org/x/mobile/cmd/gobind
mv "$work/bin/gobind" "$work/gobind"
cat >"$work/bin/gobind" <<EOF
#!/usr/bin/env bash
set -euo pipefail
"$work/gobind" "\$@"
for argument; do
	case \$argument in -outdir=*) "$PWD/glue.sh" "\${argument#-outdir=}" ;; esac
done
EOF
chmod +x "$work/bin/gobind"
made=$work/zofl.aar # out gets only a checked result
PATH=$work/bin:$PATH gomobile bind -target="$target" -androidapi "$min_api" -javapkg=zofl -trimpath \
	-ldflags "-s -w '-extldflags=-Wl,-z,max-page-size=16384'" -o "$made" github.com/zofl/zofl/client/mobile

unzip -q "$made" -d "$work/aar"
unzip -q "$work/zofl-sources.jar" -d "$work/java"
if grep -rn skipped "$work/java"; then
	fail "gobind skips these declarations of client/mobile: keep to types that it binds, or do not export them"
fi
for rule in go zofl; do
	grep -q -- "-keep class $rule\.\*\*" "$work/aar/proguard.txt" || fail "the AAR has no rule that keeps classes of $rule"
done
for library in "$work"/aar/jni/*/libgojni.so; do
	abi=$(basename "$(dirname "$library")")
	case $abi in
	arm64-v8a | x86_64) aligned "$library" || fail "$abi: libgojni.so is not aligned to pages of 16 KiB: is $ndk an NDK of r$min_ndk or newer?" ;;
	esac
	printf '%s: %s bytes\n' "$abi" "$(wc -c <"$library" | tr -d ' ')"
done
beside=$(dirname "$out")
mkdir -p "$beside"
rm -rf "$beside/jni"
mv "$made" "$out"
mv "$work/zofl-sources.jar" "${out%.aar}-sources.jar"
mv "$work/aar/classes.jar" "${out%.aar}.jar"
mv "$work/aar/jni" "$beside/jni"
printf '%s: %s bytes\n' "$out" "$(wc -c <"$out" | tr -d ' ')"
