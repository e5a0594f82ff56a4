package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
)

// TestPlanExplainsPresets: --explain tells every preset with its source, equations, defaults, and
// what a round costs.
func TestPlanExplainsPresets(t *testing.T) {
	costs := map[string][]string{ // queries, scalars, records, vectors
		"cma":     {"46", "45", "1", "47"}, // 4 + 3 ln d candidates, one of them twice
		"decomfl": {"11", "10", "1", "1"}, "mezo": {"2", "1", "1", "1"},
		"fedkseed": {"400", "200", "1", "1"},
		"zo-adafl": {"100", "50", "1", "4"}, "zo-adafl-shared": {"100", "50", "1", "4"},
		"fedzo": {"420", "400", "1", "1"}, "decomfl-adam": {"20", "19", "1", "3"},
		"zofl": {"11", "10", "1", "2"}, "zofl-shared": {"11", "10", "1", "2"},
		"zofedht": {"100", "50", "1", "11"}, "zofedht-shared": {"100", "50", "1", "11"},
		"zofedavg-sgd": {"100", "50", "1", "1"}, "zofedavg-sgd-shared": {"100", "50", "1", "1"},
		"zofedavg-gd": {"100", "50", "1", "1"}, "zofedavg-gd-shared": {"100", "50", "1", "1"},
		"fzoos": {"81", "11000", "2", "1"}, "fedzo-dense": {"420", "1000000", "1", "1"},
		"fedprox": {"210", "200", "1", "1"}, "scaffold-1": {"231", "240", "2", "1"},
		"scaffold-2": {"210", "400", "1", "2"}, "zo-svrg": {"99", "60", "2", "1"},
	}
	for _, info := range preset.List() {
		dim := "1000000"
		if info.Name == "fzoos" { // whose features have as many elements each
			dim = "1000"
		}
		out, err := zofl(t, "plan", "--preset", info.Name, "--dim", dim, "--explain")
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		want := costs[info.Name]
		if len(want) == 0 {
			t.Fatalf("no costs of %s", info.Name)
		}
		for i, row := range []string{"loss evaluations of a device", "scalars that a device sends",
			"records, each with an announcement", "vectors of dim elements, in each replica"} {
			if got := cell(out, row); got != want[i] {
				t.Errorf("%s: %s: got %q, want %s", info.Name, row, got, want[i])
			}
		}
		for _, part := range []string{info.Source, info.Notes, " preset=" + info.Name, " steps=",
			"bytes sent, at the device's socket", "memory of zofl exec, beside its program"} {
			if !strings.Contains(out, part) {
				t.Errorf("%s: no %q in:\n%s", info.Name, part, out)
			}
		}
	}
}

// TestPlanTellsLongestFrames: how much room a small device needs for frames.
func TestPlanTellsLongestFrames(t *testing.T) {
	received := "bytes of the longest frame to a device, at most"
	sent := "bytes of the longest frame from a device, at most"
	args := []string{"plan", "--preset", "zofl", "--dim", "10", "--set", "announce_budget=0"}
	out, err := zofl(t, append(args, "--explain")...)
	if err != nil || cell(out, received) == "" || cell(out, sent) == "" {
		t.Fatalf("%v, no bounds in:\n%s", err, out)
	}
	asJSON, err := zofl(t, append(args, "--json")...)
	var got struct{ Frames struct{ Received, Sent int } }
	if err = cmp.Or(err, json.Unmarshal([]byte(asJSON), &got)); err != nil {
		t.Fatal(err)
	}
	if f := got.Frames; fmt.Sprint(f.Received) != cell(out, received) ||
		fmt.Sprint(f.Sent) != cell(out, sent) || f.Received > 2048 || f.Sent > 512 {
		t.Errorf("%+v, want what --explain says, and less than 2 KiB", f)
	}
	dense, err := zofl(t, "plan", "--preset", "fedzo-dense", "--dim", "1000", "--explain")
	if err != nil || cell(dense, received) == "" || cell(dense, sent) != "" {
		t.Errorf("%v, want no bound on pieces of vectors in:\n%s", err, dense)
	}
}

// TestPlanPricesVectors: what travels in each phase, and what stays.
func TestPlanPricesVectors(t *testing.T) {
	dense := []string{"--preset", "fedzo-dense"}
	for _, c := range []struct {
		args []string
		want map[string]string
	}{
		{[]string{"--preset", "fzoos"}, map[string]string{
			"phase 1: vector up and down":            "60 evaluations, 300 elements, 1.2 KiB",
			"phase 2: vector up and down":            "21 evaluations, 10000 elements, 39.1 KiB",
			"vectors stored beside the log, at most": "321.9 KiB"}},
		{dense, map[string]string{"vector up and down": "300 elements, 1.2 KiB",
			"vectors stored beside the log, at most": "18.8 KiB"}},
		{append(dense, "--set", "control=scaffold-2"),
			map[string]string{"vector up and down": "600 elements, 2.3 KiB",
				"phase 1: vector up and down": ""}},
		{[]string{"--preset", "scaffold-1"},
			map[string]string{"phase 1: scalars": "21 evaluations",
				"phase 2: scalars":                       "210 evaluations",
				"vectors stored beside the log, at most": ""}},
		{[]string{"--preset", "decomfl"}, map[string]string{"scalars": "",
			"vector up and down": ""}},
	} {
		out, err := zofl(t, append([]string{"plan", "--dim", "300", "--explain"}, c.args...)...)
		if err != nil {
			t.Fatalf("%v: %v", c.args, err)
		}
		for row, want := range c.want {
			if got := cell(out, row); got != want {
				t.Errorf("%v: %s: got %q, want %q", c.args, row, got, want)
			}
		}
	}
}

// TestPlanAccounts: what the bytes of a round are for, as a table and as JSON, is all of them.
func TestPlanAccounts(t *testing.T) {
	args := []string{"plan", "--run", "mnist", "--dim", "300", "--id-length", "8", "--preset", "fedzo"}
	for _, s := range []string{"steps=1", "perturbations=19", "members=100", "precision=half",
		"max_scalar=65504", "server_rule=normalized", "server_beta1=0.9", "server_beta2=0.99"} {
		args = append(args, "--set", s)
	}
	out, err := zofl(t, append(args, "--explain")...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := zofl(t, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Cost  cost.Round   `json:"cost"`
		Parts cost.Account `json:"parts"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	up, down, least := got.Parts.Up.Sum(), got.Parts.Down.Sum(), got.Parts.Floor.Sum()
	if up != got.Cost.Up.Socket || down != got.Cost.Down.Socket || least > down ||
		100*down > 115*least {
		t.Errorf("%d sent, %d received, at least %d; the cost is %+v", up, down, least, got.Cost)
	}
	for row, want := range map[string][]int{"all": {up, down, least},
		"scalars, or elements of vectors": {38, 380, 380}, "which device each is from": {0, 7, 6}} {
		if got := cells(out, row); got != fmt.Sprint(want) {
			t.Errorf("%s: got %s, want %v", row, got, want)
		}
	}
}

// cells are the values of a row of the table of bytes.
func cells(out, row string) string { return fmt.Sprint(strings.Fields(cell(out, row))) }

// cell is what stands behind the name of a row, in a table with or without lines.
func cell(out, row string) string {
	for line := range strings.Lines(out) {
		if cells := strings.Split(line, "│"); len(cells) > 2 && strings.TrimSpace(cells[1]) == row {
			return strings.TrimSpace(cells[2])
		}
		if rest, ok := strings.CutPrefix(line, row+"  "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// TestPlanPricesSurveys: the loss evaluations that find mu and the step size do not count for a
// round.
func TestPlanPricesSurveys(t *testing.T) {
	const row = "further loss evaluations, once in a run"
	out, err := zofl(t, "plan", "--dim", "300", "--explain")
	if got := cell(out, row); err != nil || got != "36" {
		t.Errorf("%v: %q of the preset zofl", err, got)
	}
	text, err := zofl(t, "plan", "--dim", "300", "--json")
	var got struct{ Surveys uint64 }
	if json.Unmarshal([]byte(text), &got) != nil || err != nil || got.Surveys != 36 {
		t.Errorf("%v: %s", err, text)
	}
	if out, err = zofl(t, "plan", "--preset", "decomfl", "--dim", "300", "--explain"); err != nil ||
		cell(out, row) != "" {
		t.Errorf("a preset without surveys: %v, %s", err, out)
	}
}

// TestPlanPricesSharing: what groups=auto costs at most, and where all devices share directions.
func TestPlanPricesSharing(t *testing.T) {
	const row = "where all share directions: bytes received"
	out, err := zofl(t, "plan", "--dim", "300", "--explain")
	if err != nil {
		t.Fatal(err)
	}
	all, shared := cell(out, "bytes received, at the device's socket"), cell(out, row)
	if all != "284" || shared != "94" {
		t.Errorf("%s bytes received, %s where all share directions", all, shared)
	}
	text, err := zofl(t, "plan", "--dim", "300", "--json")
	var got struct {
		Cost   cost.Round
		Shared *cost.Round
	}
	if json.Unmarshal([]byte(text), &got) != nil || err != nil || got.Shared == nil ||
		fmt.Sprint(got.Cost.Down.Socket, got.Shared.Down.Socket) != all+" "+shared {
		t.Errorf("%v: %s", err, text)
	}
	out, err = zofl(t, "plan", "--preset", "zofl-shared", "--dim", "300", "--explain")
	if err != nil || cell(out, row) != "" {
		t.Errorf("another preset: %v, %s", err, out)
	}
}

// TestPlanPricesReplay: zofl plan says how many directions every replica makes a round, and how
// long that takes here. However many devices contribute, the default has some 160 of them.
func TestPlanPricesReplay(t *testing.T) {
	many := []string{"--dim", "7850", "--set", "members=1000", "--set", "target=1000"}
	for want, args := range map[string][]string{
		"100 directions (10 if all share)": {"--dim", "7850"},
		"160 directions":                   many,
		"10 directions":                    append(many, "--preset", "zofl-shared"),
		"10000 directions":                 append(many, "--set", "sharing=per-client"),
	} {
		out, err := zofl(t, append([]string{"plan"}, args...)...)
		line := regexp.MustCompile("\nreplay   ([0-9.]+) ms a round on one core like this, for " +
			regexp.QuoteMeta(want) + "\n").FindStringSubmatch(out)
		if err != nil || line == nil {
			t.Fatalf("%v, no %s in:\n%s", err, want, out)
		}
		if ms, err := strconv.ParseFloat(line[1], 64); err != nil || ms <= 0 {
			t.Errorf("%s take %s ms", want, line[1])
		}
		out, err = zofl(t, append([]string{"plan", "--explain"}, args...)...)
		number, _, _ := strings.Cut(want, " ")
		if got := cell(out, "directions that each replica makes to replay it"); err != nil ||
			got != number {
			t.Errorf("%v, --explain says %q, want %s", err, got, number)
		}
	}
	out, err := zofl(t, "plan", "--preset", "fzoos", "--dim", "100")
	if err != nil || strings.Contains(out, "\nreplay ") {
		t.Errorf("%v, replay of vectors in:\n%s", err, out)
	}
}
