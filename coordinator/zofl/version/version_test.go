package version

import (
	"regexp"
	"runtime/debug"
	"testing"
)

// semantic is the form of https://semver.org, which NATS asks of a service.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?$`)

func TestOf(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"},
		{Key: "vcs.revision", Value: "0123456789012345678901234567890123456789"},
		{Key: "vcs.time", Value: "2026-11-23T22:01:02Z"}}
	for _, c := range []struct {
		settings []debug.BuildSetting
		main     string // version of the main module, as Go gives it
		want     string
	}{
		{nil, "", Next + "-dev"},
		{nil, "(devel)", Next + "-dev"},
		{nil, "v7.8.9", "7.8.9"},    // go install ...@v7.8.9
		{commit, "v7.8.9", "7.8.9"}, // a clone at the tag
		{commit, "v7.8.9+dirty", Next + "-dev.20261123220102.g012345678901"},
		{commit, "v0.0.1-0.20261123220102-012345678901",
			Next + "-dev.20261123220102.g012345678901"},
		{commit, "", Next + "-dev.20261123220102.g012345678901"},
		{append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), "",
			Next + "-dev.20261123220102.g012345678901"},
		{append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "",
			Next + "-dev.20261123220102.g012345678901.modified"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings}
		if got := of(info); got != c.want || !semantic.MatchString(got) {
			t.Errorf("%v: version %s, want %s, a semantic version", c.settings, got, c.want)
		}
	}
}

func TestStamp(t *testing.T) {
	if got := String(); !semantic.MatchString(got) {
		t.Errorf("version %q, want a semantic one", got)
	}
	defer func(was string) { stamp = was }(stamp)
	if stamp = "7.8.9"; String() != stamp {
		t.Errorf("version %s, want the stamp %s", String(), stamp)
	}
}
