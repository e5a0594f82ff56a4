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
	commit := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789012345678901234567890123456789"},
		{Key: "vcs.time", Value: "2026-11-23T22:01:02Z"}}
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, Next + "-dev"},
		{commit, Next + "-dev.20261123220102.g012345678901"},
		{append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
			Next + "-dev.20261123220102.g012345678901"},
		{append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			Next + "-dev.20261123220102.g012345678901.modified"},
	} {
		if got := of(c.settings); got != c.want || !semantic.MatchString(got) {
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
