package filelog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
)

// ledLog returns a directory in which a coordinator stored n records, and then was killed or closed
// the log.
func ledLog(t *testing.T, n int, killed bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	f := openLog(t, dir)
	begin(t, f, 1)
	chaintest.Append(t, f, chaintest.Records(t, n))
	if !killed {
		closeLog(t, f)
		return dir
	}
	if err := errors.Join(f.log.file.Close(), f.seen.file.Close(), f.lock.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// cutTo removes all records after record n from the file.
func cutTo(t *testing.T, dir string, n int) {
	t.Helper()
	b := []byte(logHead)
	for _, r := range chaintest.Records(t, n) {
		b = appendFrame(b, r)
	}
	if err := os.Truncate(filepath.Join(dir, "log"), int64(len(b))); err != nil {
		t.Fatal(err)
	}
}

// If somebody cuts off the log's last records, the log reports how many are missing, even if its
// coordinator was killed. The error ends when a person accepts exactly that number.
func TestCutLogSaysSo(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir := ledLog(t, 20, killed)
		cutTo(t, dir, 11)
		for _, open := range []func(string) (*Log, error){OpenReadOnly, Open} {
			f, err := open(dir)
			if err != nil {
				t.Fatal(err)
			}
			var loss *runlog.LossError
			if err := runlog.CheckLoss(t.Context(), f, 8); !errors.As(err, &loss) ||
				loss.Last != 11 || loss.Seen != 20 || !errors.Is(err, runlog.ErrCorrupt) ||
				!strings.Contains(err.Error(), "--accept-loss 9") {
				t.Errorf("killed %v: %v, want the loss of 9 records", killed, err)
			}
			if err := runlog.CheckLoss(t.Context(), f, 9); err != nil {
				t.Errorf("the loss is accepted: %v", err)
			}
			closeLog(t, f)
		}
		f := openLog(t, dir)
		if err := f.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		closeLog(t, f)
		if err := runlog.CheckLoss(t.Context(), openLog(t, dir), 0); err != nil {
			t.Errorf("once the loss is accepted: %v", err)
		}
	}
}

// CheckEmpty tells a log that lost all its records from a new one.
func TestEmptiedLogIsNotEmpty(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"cut":     func(path string) error { return os.Truncate(path, int64(len(logHead))) },
		"missing": os.Remove,
	} {
		dir := ledLog(t, 5, true)
		if err := spoil(filepath.Join(dir, "log")); err != nil {
			t.Fatal(err)
		}
		f, err := OpenReadOnly(dir)
		if err == nil {
			err = runlog.CheckLoss(t.Context(), f, 0)
			closeLog(t, f)
		}
		if !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s, read: %v, want ErrCorrupt", name, err)
		}
		f = openLog(t, dir)
		if _, err := f.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		err = runlog.CheckEmpty(t.Context(), f)
		if !errors.Is(err, runlog.ErrLeft) || !strings.Contains(err.Error(), "record 5 was stored") {
			t.Errorf("%s, led: %v, want that record 5 was stored", name, err)
		}
	}
	old := t.TempDir() // of a version that noted only its epoch
	writeFile(t, filepath.Join(old, "epoch"), fmt.Appendf(nil, epochFormat, 3))
	f := openLog(t, old)
	begin(t, f, 4)
	if err := runlog.CheckEmpty(t.Context(), f); !errors.Is(err, runlog.ErrLeft) {
		t.Errorf("an epoch alone: %v, want ErrLeft", err)
	}
	f = openLog(t, ledLog(t, 0, true)) // killed before record 1
	if err := runlog.CheckEmpty(t.Context(), f); err != nil {
		t.Errorf("a coordinator that stored nothing: %v", err)
	}
}

// fingerprint returns a hash of all names, times and bytes of a directory.
func fingerprint(t *testing.T, dir string) (sum [sha256.Size]byte) {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all = fmt.Appendf(all, "%s %v %v\n", path, info.Mode(), info.ModTime())
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all = append(all, b...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(all)
}

// OpenReadOnly changes nothing in a directory, whatever is unfinished or damaged there.
func TestReadOnlyWritesNothing(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"whole":   func(string) error { return nil },
		"torn":    func(dir string) error { return os.Truncate(filepath.Join(dir, "log"), 200) },
		"emptied": func(dir string) error { return os.Truncate(filepath.Join(dir, "log"), 0) },
		"no lock": func(dir string) error { return os.Remove(filepath.Join(dir, "lock")) },
		"old": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "seen")),
				os.WriteFile(filepath.Join(dir, "roster"), []byte(oldRosterHead+"a\nb"), 0o600))
		},
		"unfinished": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "epoch.zofl-new"), []byte("zo"), 0o600)
		},
	} {
		dir := ledLog(t, 5, false)
		if err := errors.Join(spoil(dir), os.Chmod(dir, 0o500)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		before := fingerprint(t, dir)
		f, err := OpenReadOnly(dir)
		if (name == "emptied") != errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			for _, write := range []error{
				f.Append(t.Context(), f.Last()+1, nil), f.AddMembers(t.Context(), []string{"x"}),
				f.Retire(t.Context(), "a"), f.PassEpochs(t.Context(), 9), f.Forget(t.Context()),
				f.PutObject(t.Context(), runlog.ObjectName{}, nil),
				f.KeepObjects(t.Context(), 1, nil),
			} {
				if !errors.Is(write, errFixed) {
					t.Errorf("%s: a write returned %v", name, write)
				}
			}
			if _, err := f.Begin(t.Context()); !errors.Is(err, errFixed) {
				t.Errorf("%s: Begin returned %v", name, err)
			}
			if notes := f.Notes(); (len(notes) > 0) != (name == "torn" || name == "old") {
				t.Errorf("%s: notes %q", name, notes)
			}
			closeLog(t, f)
		}
		if fingerprint(t, dir) != before {
			t.Errorf("%s: reading changed the directory", name)
		}
	}
	dir := ledLog(t, 2, false)
	f := openLog(t, dir)
	if _, err := OpenReadOnly(dir); !errors.Is(err, runlog.ErrLocked) {
		t.Errorf("a coordinator has it open: %v, want ErrLocked", err)
	}
	closeLog(t, f)
	first, err := OpenReadOnly(dir)
	second, again := OpenReadOnly(dir)
	if err := errors.Join(err, again, first.Close(), second.Close()); err != nil {
		t.Errorf("two readers: %v", err)
	}
	if _, err := OpenReadOnly(t.TempDir()); !errors.Is(err, runlog.ErrNoLog) {
		t.Errorf("no log: %v, want ErrNoLog", err)
	}
}

// SetAside renames the files of a run without records, and deletes nothing.
func TestSetAside(t *testing.T) {
	dir := ledLog(t, 5, false)
	if _, err := SetAside(dir); !errors.Is(err, ErrRecords) {
		t.Errorf("a log with records: %v, want ErrRecords", err)
	}
	roster, err := os.ReadFile(filepath.Join(dir, "roster"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 2; i++ {
		if err := os.Remove(filepath.Join(dir, "log")); err != nil {
			t.Fatal(err)
		}
		names, err := SetAside(dir)
		if err != nil || len(names) < 2 {
			t.Fatalf("set aside %q, %v", names, err)
		}
		got, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("roster.before-", i)))
		if err != nil || i == 1 && string(got) != string(roster) {
			t.Errorf("the roster set aside: %q, %v", got, err)
		}
		f := openLog(t, dir)
		begin(t, f, uint64(i)+1)
		if err := runlog.CheckEmpty(t.Context(), f); err != nil {
			t.Error(err)
		}
		chaintest.Append(t, f, chaintest.Records(t, 2))
		closeLog(t, f)
	}
	if names, err := SetAside(t.TempDir()); err != nil || len(names) > 0 {
		t.Errorf("an empty directory: %q, %v", names, err)
	}
}
