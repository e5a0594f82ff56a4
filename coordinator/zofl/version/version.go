// Package version says which version of the program this is.
package version

import (
	"runtime/debug"
	"strings"
	"time"
)

// Next is the version in development. If a commit has the tag of that version, it is the released
// version.
const Next = "0.1.0"

// stamp is the version of a released program. The linker sets it, with the flag -X
// github.com/zofl/zofl/coordinator/zofl/version.stamp=0.1.0
var stamp string

// String returns the version of this program, without a leading "v": the version in stamp, or
// otherwise that of the module, if it was fetched or has a tag, or one that names the commit that
// Go recorded in the program.
func String() string {
	if stamp != "" {
		return stamp
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Next + "-dev"
	}
	return of(info)
}

// of returns the version of a program that Go built. From the module cache, or from a commit with a
// tag, it has the version of its module; from other commits, the commit. Tests, and builds from a
// copy without the Git history, have neither.
func of(info *debug.BuildInfo) string {
	known := map[string]string{}
	for _, s := range info.Settings {
		known[s.Key] = s.Value
	}
	tagged, ok := strings.CutPrefix(info.Main.Version, "v")
	if ok && (known["vcs"] == "" || !strings.ContainsAny(tagged, "-+")) {
		return tagged
	}
	at, err := time.Parse(time.RFC3339, known["vcs.time"])
	if err != nil {
		return Next + "-dev"
	}
	return Development(at, known["vcs.revision"], known["vcs.modified"] == "true")
}

// Development returns the version of a commit without a tag. By semantic versioning it sorts before
// [Next] and after the versions of earlier commits. It is also a valid tag of a container image.
// modified says that files differ from the commit's.
func Development(at time.Time, revision string, modified bool) string {
	// The hash has the prefix "g", as in git describe, because semantic versioning forbids an
	// identifier of digits alone that begins with a zero.
	parts := []string{Next + "-dev", at.UTC().Format("20060102150405"),
		"g" + revision[:min(len(revision), 12)]}
	if modified {
		parts = append(parts, "modified")
	}
	return strings.Join(parts, ".")
}
