package history

import (
	"bufio"
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// victimDir names the directory in which this program records rounds until it is killed.
const victimDir = "ZOFL_HISTORY_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

// victim continues a history, and prints the number of each record.
func victim(dir string) {
	run, err := makeRun()
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	h, _, err := Read(ctx, DirToRead(dir))
	if err != nil {
		panic(err)
	}
	if points, _ := h.Snapshot(0); len(points) > 0 {
		run.status.N = points[len(points)-1].N + 3
	}
	out := bufio.NewWriterSize(os.Stdout, 16)
	n := run.status.N
	h = &History{}
	h.Lead(ctx, run, Dir(dir), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	for {
		n++
		_ = h.Record(round(n))
		if n%5 == 0 {
			_ = h.Record(evaluation(n, 1))
		}
		if n%7 == 0 {
			_ = h.Record(report.Event{Kind: report.RunPaused, N: n, Reason: "lunch"})
		}
		if _, err := out.WriteString(strconv.FormatUint(n, 10) + "\n"); err != nil {
			return
		}
	}
}

// TestKilled: a coordinator that is killed at any moment, even while it rewrites the file, leaves a
// history that the next coordinator reads and continues.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes minutes of processes that write as fast as they can")
	}
	dir := t.TempDir()
	before, starts := 0, 0
	for life := range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Stderr = t.Output()
		cmd.Env = append(os.Environ(), victimDir+"="+dir)
		out := must(cmd.StdoutPipe())(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + rand.IntN(2*mostPoints) {
			if !lines.Scan() {
				t.Fatalf("life %d ended by itself", life)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		h, damaged, err := Read(t.Context(), DirToRead(dir))
		if err != nil || damaged > 0 {
			t.Fatalf("life %d: %d damaged lines, %v", life, damaged, err)
		}
		points, marks := h.Snapshot(0)
		// A coordinator that is killed at once may have stored nothing.
		if n := len(ns(t, points)); n < before && before < mostPoints/2 {
			t.Fatalf("life %d: %d points, %d before", life, n, before)
		}
		for _, p := range points {
			if p.Contributors != 3 || p.Loss == nil || p.Queries == 0 {
				t.Fatalf("life %d: point %+v", life, p)
			}
		}
		before, starts = len(points), countOf(marks, Began)
	}
	if before == 0 || starts == 0 {
		t.Errorf("%d points and %d starts are left", before, starts)
	}
}

func countOf(marks []Mark, k Kind) (n int) {
	for _, m := range marks {
		if m.Kind == k {
			n++
		}
	}
	return n
}
