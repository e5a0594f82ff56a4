package disktest

import (
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/zofl/zofl/internal/disk"
)

// A saver replaces the content of file x by text; after nil, text survives a power cut.
type saver func(d *Disk, text string) error

func put(d *Disk, path, text string, flag int, sync bool) error {
	f, err := d.Open(path, os.O_RDWR|os.O_CREATE|flag)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return f.Close()
}

// survives reports whether x is always old or new, and new if that was promised, whenever
// the power goes off.
func survives(t *testing.T, save saver) bool {
	const first, second = "the first", "the second"
	acknowledged := ""
	run := func(d *Disk) {
		acknowledged = ""
		for _, text := range []string{first, second} {
			if save(d, text) != nil {
				return
			}
			acknowledged = text
		}
	}
	for d := range Crashes(run) {
		got := ""
		if f, err := d.Open("x", os.O_RDONLY); err == nil {
			f.Close()
			got = content(t, d, "x")
		}
		allowed := map[string][]string{"": {"", first}, first: {first, second}, second: {second}}
		if got != allowed[acknowledged][0] &&
			got != allowed[acknowledged][len(allowed[acknowledged])-1] {
			return false
		}
	}
	return true
}

// The sweep detects savers that omit a step, and no others.
func TestCrashesDetectsOmittedSteps(t *testing.T) {
	for _, test := range []struct {
		name string
		save saver
		want bool
	}{
		{"nothing", func(d *Disk, text string) error {
			return disk.Replace(d, "x", func(w io.Writer) error {
				_, err := io.WriteString(w, text)
				return err
			})
		}, true},
		{"the temporary file", func(d *Disk, text string) error {
			if err := put(d, "x", text, os.O_TRUNC, true); err != nil {
				return err
			}
			return d.SyncDir("/")
		}, false},
		{"to sync the file", func(d *Disk, text string) error {
			if err := put(d, "y", text, os.O_TRUNC, false); err != nil {
				return err
			}
			if err := d.Rename("y", "x"); err != nil {
				return err
			}
			return d.SyncDir("/")
		}, false},
		{"to sync the folder", func(d *Disk, text string) error {
			if err := put(d, "y", text, os.O_TRUNC, true); err != nil {
				return err
			}
			return d.Rename("y", "x")
		}, false},
		{"to sync at all", func(d *Disk, text string) error {
			return put(d, "x", text, os.O_TRUNC, false)
		}, false},
		{"to sync the file before the renaming", func(d *Disk, text string) error {
			if err := put(d, "y", text, os.O_TRUNC, false); err != nil {
				return err
			}
			if err := d.Rename("y", "x"); err != nil {
				return err
			}
			if err := put(d, "x", text, 0, true); err != nil {
				return err
			}
			return d.SyncDir("/")
		}, false},
	} {
		t.Run("forgets "+test.name, func(t *testing.T) {
			if got := survives(t, test.save); got != test.want {
				t.Errorf("survives power cuts: %v, want %v", got, test.want)
			}
		})
	}
}

// A saver that only syncs again after a failed Sync, without writing again, is detected.
func TestFaultsDetectsTrustInTheCache(t *testing.T) {
	for name, again := range map[string]bool{"syncs again": false, "writes again": true} {
		t.Run(name, func(t *testing.T) {
			lost := false
			save := func(d *Disk) {
				f := open(t, d, "x")
				must(t, d.SyncDir("/"))
				d.Fail(1, 1, syscall.EIO)
				write(t, f, 0, "text")
				for f.Sync() != nil {
					if again {
						write(t, f, 0, "text")
					}
				}
			}
			d := New()
			save(d)
			for state := range d.States() {
				lost = lost || content(t, state, "x") != "text"
			}
			if lost == again {
				t.Errorf("lost: %v, want %v", lost, !again)
			}
		})
	}
}

func TestFaultsFailsEachOperation(t *testing.T) {
	var failures, runs int
	for d := range Faults(syscall.EIO, func(d *Disk) {
		if put(d, "x", "text", 0, true) != nil {
			failures++
		}
	}) {
		runs++
		if d.Failing() != (runs == 5) {
			t.Errorf("run %d: Failing() = %v", runs, d.Failing())
		}
	}
	// Open, WriteAt, Sync and Close, and finally none.
	if runs != 5 || failures != 4 {
		t.Errorf("%d runs, %d failures, want 5 and 4", runs, failures)
	}
}

// A crash of a coordinator's disk with 100 KB of log, during an append.
func BenchmarkCrash(b *testing.B) {
	d := New()
	f := open(b, d, "log")
	write(b, f, 0, string(make([]byte, 100_000)))
	must(b, f.Sync())
	must(b, d.SyncDir("/"))
	r := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		f := open(b, d, "log")
		must(b, f.Truncate(100_000))
		must(b, f.Sync())
		write(b, f, 100_000, "a record that is being appended")
		d.Crash(r)
	}
}
