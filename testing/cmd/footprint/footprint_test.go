//go:build !race

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

const status = `Name:	device
VmPeak:	 1281716 kB
VmHWM:	   14040 kB
VmRSS:	   13916 kB
RssAnon:	    6536 kB
RssFile:	    7380 kB
RssShmem:	       0 kB
Threads:	6
`

func TestParseStatus(t *testing.T) {
	got, err := parseStatus(status)
	if want := (resident{14040 << 10, 13916 << 10, 6536 << 10, 7380 << 10}); err != nil ||
		got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for name, text := range map[string]string{
		"ended":     "Name:	device\nState:	Z (zombie)\n",
		"one field": strings.Replace(status, "RssAnon", "RssOther", 1),
		"no number": strings.Replace(status, "14040", "many", 1),
	} {
		if r, err := parseStatus(text); err == nil {
			t.Errorf("%s: got %+v, want an error", name, r)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	printTable(&b, []figure{
		{What: "size", Value: 7_405_730, Unit: "bytes", Most: 7_000_000},
		{What: "rounds", Value: 29.94, Unit: "objects", Note: "seen"},
	})
	for _, want := range []string{
		"| size | 7,405,730 bytes | 7,000,000: missed |  |", "| rounds | 29.9 objects |  | seen |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant a line %s", &b, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, values := range [][]float64{{2}, {3, 2, 1}, {9, 2, 3, 1}} {
		if got := median(values); got != 2 {
			t.Errorf("median of %v is %v, want 2", values, got)
		}
	}
}

// A device that ends before its marks is an error that contains its output.
func TestDeviceEnds(t *testing.T) {
	_, err := follow(exec.Command("sh", "-c", "echo no broker >&2; exit 3"), 1)
	if err == nil || !strings.Contains(err.Error(), "no broker") {
		t.Errorf("got %v", err)
	}
}
