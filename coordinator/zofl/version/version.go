// Package version says which version of the program this is.
package version

import (
	"runtime/debug"
	"strings"
	"time"
)

// Next is the version that is being worked on, or that was released if a commit has its tag.
const Next = "0.1.0"

// stamp is set by the linker in what release builds:
// -X github.com/zofl/zofl/coordinator/zofl/version.stamp=0.1.0
var stamp string

// String returns the version of this program, without a leading "v": the one stamped by the
// release, or otherwise the one that Go knows from the commit.
func String() string {
	if stamp != "" {
		return stamp
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Next + "-dev"
	}
	return of(info.Settings)
}

// of returns the version of a build from a repository. Tests, and builds of a copy without
// history, know no commit.
func of(settings []debug.BuildSetting) string {
	known := map[string]string{}
	for _, s := range settings {
		known[s.Key] = s.Value
	}
	at, err := time.Parse(time.RFC3339, known["vcs.time"])
	if err != nil {
		return Next + "-dev"
	}
	return Development(at, known["vcs.revision"], known["vcs.modified"] == "true")
}

// Development returns the version of a commit without a tag. It sorts before [Next] and after the
// versions of earlier commits, in every order that follows semantic versioning. It is also a valid
// tag of an image. Modified says that files differ from the commit's.
func Development(at time.Time, revision string, modified bool) string {
	// A "g" as in git describe: an identifier of digits alone must not begin with a zero.
	parts := []string{Next + "-dev", at.UTC().Format("20060102150405"),
		"g" + revision[:min(len(revision), 12)]}
	if modified {
		parts = append(parts, "modified")
	}
	return strings.Join(parts, ".")
}
