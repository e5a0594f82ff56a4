package history

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/internal/disk/disktest"
)

func logger(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// patience is how long a store may take in a test. On a busy machine a store may take longer than a
// coordinator would wait.
const patience = 5 * time.Minute

// lead leads a history for a coordinator whose log has the given number of records, and records the
// given rounds.
func lead(t testing.TB, h *History, s Store, last uint64, rounds ...uint64) {
	t.Helper()
	h.within = patience
	run := newRun(t)
	run.status.N = last
	stop := h.Lead(t.Context(), run, s, logger(t))
	for _, n := range rounds {
		record(t, h, round(n))
	}
	stop()
}

// stored returns the records of the points in a store.
func stored(t testing.TB, s Store) []uint64 {
	t.Helper()
	h, _, err := Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	points, _ := h.Snapshot(0)
	return ns(t, points)
}

// testStore checks the behavior that every store must have. fresh returns the store as another
// process would open it.
func testStore(t *testing.T, fresh func() Store) {
	if got := stored(t, fresh()); len(got) != 0 {
		t.Errorf("at first: %v", got)
	}
	lead(t, &History{}, fresh(), 0, 2, 3, 4)
	if got := stored(t, fresh()); !slices.Equal(got, []uint64{2, 3, 4}) {
		t.Errorf("of the first coordinator: %v", got)
	}
	var second History // missed record 5
	lead(t, &second, fresh(), 5, 6)
	points, marks := second.Snapshot(0)
	if got := ns(t, points); !slices.Equal(got, []uint64{2, 3, 4, 6}) {
		t.Errorf("the second coordinator has %v", got)
	}
	if len(marks) != 2 || marks[0].Kind != Began || marks[1].N != 5 {
		t.Errorf("the second coordinator has marks %+v", marks)
	}
	if a, b := points[2].Queries, points[3].Queries; !(b > a) {
		t.Errorf("queries went from %d to %d", a, b)
	}
	if got := stored(t, fresh()); !slices.Equal(got, []uint64{2, 3, 4, 6}) {
		t.Errorf("of two coordinators: %v", got)
	}
	lead(t, &second, fresh(), 3, 4) // the log lost records, and goes on
	if got := stored(t, fresh()); !slices.Equal(got, []uint64{2, 3, 4}) {
		t.Errorf("after the log lost records: %v", got)
	}
	var long History
	rounds := make([]uint64, 2*mostPoints)
	for i := range rounds {
		rounds[i] = uint64(5 + i)
	}
	lead(t, &long, fresh(), 4, rounds...)
	points, _ = long.Snapshot(0)
	if got, want := stored(t, fresh()), ns(t, points); !slices.Equal(got, want) {
		t.Errorf("%d points are stored of %d", len(got), len(want))
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func() Store { return Dir(dir) })
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if n := bytes.Count(b, []byte{'\n'}); err != nil || n > 2*mostPoints {
		t.Errorf("the file has %d lines, %v", n, err)
	}
}

// Reading a history that does not exist writes nothing.
func TestDirToRead(t *testing.T) {
	dir := t.TempDir()
	if got := stored(t, DirToRead(dir)); len(got) != 0 {
		t.Errorf("read %v", got)
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) != 0 {
		t.Errorf("reading wrote %v, %v", there, err)
	}
	lead(t, &History{}, Dir(dir), 0, 2)
	path := filepath.Join(dir, FileName)
	torn := append(must(os.ReadFile(path))(t), "{\"poi"...)
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, DirToRead(dir)); !slices.Equal(got, []uint64{2}) {
		t.Errorf("read %v", got)
	}
	if b := must(os.ReadFile(path))(t); !bytes.Equal(b, torn) {
		t.Error("reading changed the file")
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// If somebody damages lines of the file, the history loses only these lines.
func TestDamagedFile(t *testing.T) {
	whole := encodeAll([]Point{{N: 2}, {N: 3}, {N: 4}, {N: 5}}, nil)
	lines := strings.SplitAfter(string(whole), "\n")
	long := `{"point":{"n":9,"x":"` + strings.Repeat("x", 1<<20) + "\"}}\n"
	for name, c := range map[string]struct {
		file string
		want []uint64
	}{
		"torn":             {string(whole[:len(whole)-7]), []uint64{2, 3, 4, 7}},
		"a long torn tail": {string(whole) + strings.Repeat("x", 3000), []uint64{2, 3, 4, 5, 7}},
		"no newline":       {string(whole[:len(whole)-1]), []uint64{2, 3, 4, 7}},
		"empty":            {"", []uint64{7}},
		"noise":            {strings.Repeat("\x00\xff\n\n{}\n[]\nnull\n", 100), []uint64{7}},
		"a line in the middle": {strings.Replace(string(whole), `"point":{"n":3`, `"pint":{"n":3`, 1),
			[]uint64{2, 4, 5, 7}},
		"zeros": {string(whole) + strings.Repeat("\x00", 4096), []uint64{2, 3, 4, 5, 7}},
		"zeros, a line": {string(whole) + strings.Repeat("\x00", 512) + "\n" + lines[2],
			[]uint64{2, 3, 4, 5, 7}},
		"a long line": {long + string(whole), []uint64{2, 3, 4, 5, 7}},
		"twice":       {string(whole) + string(whole), []uint64{2, 3, 4, 5, 7}},
		"backwards": {lines[4] + lines[3] + lines[2] + lines[1],
			[]uint64{2, 3, 4, 5, 7}},
		"of no record": {`{"point":{"n":0}}` + "\n" + `{"point":{"n":18446744073709551615}}` + "\n",
			[]uint64{7}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			lead(t, &History{}, Dir(dir), 6, 7)
			if b := must(os.ReadFile(path))(t); b[len(b)-1] != '\n' {
				t.Errorf("the file ends in %q", b[max(0, len(b)-20):])
			}
			h, damaged, err := Read(t.Context(), DirToRead(dir))
			if err != nil || damaged > 0 {
				t.Errorf("%d damaged lines are left, %v", damaged, err)
			}
			points, _ := h.Snapshot(0)
			if got := ns(t, points); !slices.Equal(got, c.want) {
				t.Errorf("points of %v, want %v", got, c.want)
			}
		})
	}
}

// A history does not change the file of a newer program, and goes on in memory.
func TestNewerFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	text := []byte("{\"zofl_history\":2}\n{\"point\":{\"n\":3}}\n")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(t.Context(), Dir(dir)); !errors.Is(err, ErrVersion) {
		t.Errorf("read: %v, want %v", err, ErrVersion)
	}
	var h History
	lead(t, &h, Dir(dir), 3, 4)
	if points, _ := h.Snapshot(0); len(points) != 1 {
		t.Errorf("%d points in memory", len(points))
	}
	if b := must(os.ReadFile(path))(t); !bytes.Equal(b, text) {
		t.Errorf("the file became %q", b)
	}
	if err := Copy(t.Context(), Dir(dir), Dir(t.TempDir())); err != nil {
		t.Errorf("a copy of no history: %v", err)
	}
}

// A power cut at any moment loses only bytes that were not synced.
func TestPowerCuts(t *testing.T) {
	cuts := 0
	for d := range disktest.Crashes(func(d *disktest.Disk) {
		if d.Mkdir("log") == nil {
			lead(t, &History{}, newFile(d, "log", true), 0, 2, 3)
			lead(t, &History{}, newFile(d, "log", true), 3, 4)
		}
	}) {
		cuts++
		if names, err := d.ReadDir("."); err != nil || !slices.Contains(names, "log") {
			continue
		}
		var h History
		lead(t, &h, newFile(d, "log", true), 4, 5)
		points, _ := h.Snapshot(0)
		if list := ns(t, points); list[len(list)-1] != 5 {
			t.Fatalf("cut %d: points of %v", cuts, list)
		}
		if got := stored(t, newFile(d, "log", true)); got[len(got)-1] != 5 {
			t.Fatalf("cut %d: stored points of %v", cuts, got)
		}
	}
	if cuts < 10 {
		t.Errorf("%d power cuts", cuts)
	}
}

// No error of the disk ends the run, and the history in memory stays complete.
func TestFaultyDisk(t *testing.T) {
	faults := 0
	for range disktest.Faults(errors.New("the disk is full"), func(d *disktest.Disk) {
		_ = d.Mkdir("log")
		var h History
		lead(t, &h, newFile(d, "log", true), 0, 2, 3)
		record(t, &h, round(4), report.Event{Kind: report.RunEnded, N: 5})
		points, _ := h.Snapshot(0)
		if got := ns(t, points); !slices.Equal(got, []uint64{2, 3, 4}) {
			t.Errorf("fault %d: points of %v", faults, got)
		}
		faults++
	}) {
	}
	if faults < 5 {
		t.Errorf("%d faults", faults)
	}
}

// The next coordinator in the same process stores the lines that an earlier coordinator could not
// store.
func TestLeadAgain(t *testing.T) {
	var h History
	lead(t, &h, newFile(disktest.New(), "none", true), 0, 2, 3)
	dir := t.TempDir()
	lead(t, &h, Dir(dir), 3, 4)
	if got := stored(t, Dir(dir)); !slices.Equal(got, []uint64{2, 3, 4}) {
		t.Errorf("points of %v", got)
	}
}

func TestCopy(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	lead(t, &History{}, Dir(from), 0, 2, 3)
	lead(t, &History{}, Dir(to), 0, 2, 9)
	for range 2 { // it may be interrupted, and repeated
		if err := Copy(t.Context(), Dir(to), DirToRead(from)); err != nil {
			t.Fatal(err)
		}
	}
	all := func(dir string) string { // a file is in the order in which its lines came
		h, _, err := Read(t.Context(), DirToRead(dir))
		if err != nil {
			t.Fatal(err)
		}
		return string(encodeAll(h.Snapshot(0)))
	}
	if a, b := all(from), all(to); a != b || !strings.Contains(a, `"n":3`) {
		t.Errorf("the copy is\n%s, want\n%s", b, a)
	}
}
