package isa

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, l := range []Level{Generic, AVX2, AVX512, NEON} {
		if got, err := Parse(l.String()); err != nil || got != l {
			t.Errorf("Parse(%q) = %v, %v", l, got, err)
		}
	}
	if _, err := Parse("avx3"); err == nil || !strings.Contains(err.Error(), `"avx3"`) {
		t.Errorf("Parse of an unknown name: %v", err)
	}
	if got := Level(9).String(); got != "level 9" {
		t.Errorf("got %q", got)
	}
}

func TestUse(t *testing.T) {
	for _, l := range Levels() {
		before := Use(l)
		if Current() != l {
			t.Errorf("using %v, want %v", Current(), l)
		}
		Use(before)
	}
	if Current() != Best() {
		t.Errorf("using %v, want %v", Current(), Best())
	}
	defer func() {
		if p := recover(); p == nil {
			t.Error("used what the machine does not have")
		}
	}()
	Use(NEON + 1)
}

// TestMachine compares the levels with those that Linux reports.
func TestMachine(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("no /proc/cpuinfo to compare with")
	}
	flags := strings.Fields(string(info))
	has := func(names ...string) bool {
		for _, name := range names {
			found := false
			for _, f := range flags {
				found = found || f == name
			}
			if !found {
				return false
			}
		}
		return true
	}
	want := Generic
	switch {
	case !native:
	case runtime.GOARCH == "arm64":
		want = NEON
	case has("avx512f", "avx512dq", "avx512bw", "avx512vl"):
		want = AVX512
	case has("avx2"):
		want = AVX2
	}
	if Best() != want {
		t.Errorf("detected %v, /proc/cpuinfo says %v", Best(), want)
	}
}
