#!/usr/bin/env bash
# Puts what hostjvm.sh made into a Maven repository that is a folder, as org.zofl:zofl-jvm, for
# programs in Java and Kotlin on machines such as this one. The native library has a classifier.
#
#   ./publish.sh FOLDER [OUT]
#
# FOLDER is any path, OUT where hostjvm.sh's files are, by default _hostjvm. The library for phones,
# org.zofl:zofl-android, is published by gradlew: see ../docs/android-build.md.
set -euo pipefail
[ $# -gt 0 ] || { echo "publish.sh: give the folder of a Maven repository" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
out=${2:-_hostjvm}
[ -f "$out/gobind.jar" ] || { echo "publish.sh: $out has no gobind.jar: run ./hostjvm.sh first" >&2; exit 1; }
version=$(sed -n 's/^zofl = "\(.*\)"$/\1/p' gradle/libs.versions.toml)
artifact=$folder/org/zofl/zofl-jvm
to=$artifact/$version/zofl-jvm-$version
mkdir -p "$artifact/$version"
cp "$out/gobind.jar" "$to.jar"
cp "$out/libgojni.so" "$to-$(go env GOHOSTOS)-$(go env GOHOSTARCH).so"
cat >"$to.pom" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.zofl</groupId>
  <artifactId>zofl-jvm</artifactId>
  <version>$version</version>
  <name>Zofl for the JVM</name>
  <description>Devices that evaluate a loss train one model together</description>
  <url>https://github.com/zofl/zofl</url>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
    </license>
  </licenses>
  <developers><developer><name>The Zofl authors</name></developer></developers>
  <scm><url>https://github.com/zofl/zofl</url></scm>
</project>
XML
cat >"$artifact/maven-metadata.xml" <<XML
<metadata>
  <groupId>org.zofl</groupId>
  <artifactId>zofl-jvm</artifactId>
  <versioning>
    <latest>$version</latest>
    <release>$version</release>
    <versions><version>$version</version></versions>
  </versioning>
</metadata>
XML
for file in "$artifact/maven-metadata.xml" "$to"*; do
	[[ $file == *.sha1 ]] || sha1sum <"$file" | cut -d' ' -f1 | tr -d '\n' >"$file.sha1"
done
echo "org.zofl:zofl-jvm:$version is in $folder"
