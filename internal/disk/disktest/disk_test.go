package disktest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zofl/zofl/internal/disk"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, d *Disk, path string) disk.File {
	t.Helper()
	f, err := d.Open(path, os.O_RDWR|os.O_CREATE)
	must(t, err)
	return f
}

func write(t testing.TB, f disk.File, off int64, text string) {
	t.Helper()
	_, err := f.WriteAt([]byte(text), off)
	must(t, err)
}

// durable returns a disk with an empty file x that survives a power cut.
func durable(t testing.TB, text string) (*Disk, disk.File) {
	t.Helper()
	d := New()
	f := open(t, d, "x")
	write(t, f, 0, text)
	must(t, f.Sync())
	must(t, d.SyncDir("/"))
	return d, f
}

// show returns all files of a disk, with runs of one character shortened.
func show(t testing.TB, d *Disk) string {
	t.Helper()
	names, err := d.ReadDir("/")
	must(t, err)
	var all []string
	for _, name := range names {
		all = append(all, name+"="+short(content(t, d, name)))
	}
	return strings.Join(all, " ")
}

func content(t testing.TB, d *Disk, name string) string {
	t.Helper()
	f, err := d.Open(name, os.O_RDONLY)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	must(t, err)
	return string(b)
}

func short(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		rest := strings.TrimLeft(s, s[:1])
		c := strings.ReplaceAll(s[:1], "\x00", "0")
		if n := len(s) - len(rest); n > 3 {
			c = fmt.Sprintf("%s*%d", c, n)
		} else {
			c = strings.Repeat(c, n)
		}
		out.WriteString(c)
		s = rest
	}
	return out.String()
}

func states(t testing.TB, d *Disk) []string {
	t.Helper()
	var all []string
	for state := range d.States() {
		all = append(all, show(t, state))
	}
	slices.Sort(all)
	return all
}

func TestStates(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(d *Disk, f disk.File) error
		want []string
	}{
		{"nothing", func(*Disk, disk.File) error { return nil }, []string{"x=ab"}},
		{"a synced write", func(d *Disk, f disk.File) error {
			write(t, f, 2, "cd")
			return f.Sync()
		}, []string{"x=abcd"}},
		{"a write at the end", func(d *Disk, f disk.File) error {
			write(t, f, 2, "cd")
			return nil
		}, []string{"x=ab", "x=ab0", "x=ab00", "x=abc", "x=abcd"}},
		{"a write in place", func(d *Disk, f disk.File) error {
			write(t, f, 0, "AB")
			return nil
		}, []string{"x=AB", "x=ab"}},
		{"a truncation and a write", func(d *Disk, f disk.File) error {
			must(t, f.Truncate(0))
			write(t, f, 0, "C")
			return nil
		}, []string{"x=", "x=C", "x=Cb", "x=ab"}},
		{"a creation", func(d *Disk, f disk.File) error {
			return open(t, d, "y").Close()
		}, []string{"x=ab", "x=ab y="}},
		{"a synced creation of an unsynced file", func(d *Disk, f disk.File) error {
			write(t, open(t, d, "y"), 0, "c")
			return d.SyncDir(".")
		}, []string{"x=ab y=", "x=ab y=0", "x=ab y=c"}},
		{"a synced file of an unsynced name", func(d *Disk, f disk.File) error {
			y := open(t, d, "y")
			write(t, y, 0, "c")
			return y.Sync()
		}, []string{"x=ab", "x=ab y=c"}},
		{"a renaming", func(d *Disk, f disk.File) error {
			return d.Rename("x", "y")
		}, []string{"x=ab", "x=ab y=ab", "y=ab"}},
		{"a removal", func(d *Disk, f disk.File) error {
			return d.Remove("x")
		}, []string{"", "x=ab"}},
		{"a replacement", func(d *Disk, f disk.File) error {
			return disk.Replace(d, "x", func(w io.Writer) error {
				_, err := io.WriteString(w, "new")
				return err
			})
		}, []string{"x=new"}},
		{"a failed sync and another", func(d *Disk, f disk.File) error {
			write(t, f, 2, "c")
			d.Fail(0, 1, syscall.EIO)
			if err := f.Sync(); !errors.Is(err, syscall.EIO) {
				t.Errorf("Sync: %v, want EIO", err)
			}
			return f.Sync()
		}, []string{"x=ab", "x=ab0", "x=abc"}},
		{"a failed sync, overwritten", func(d *Disk, f disk.File) error {
			write(t, f, 2, "c")
			d.Fail(0, 1, syscall.EIO)
			f.Sync()
			write(t, f, 2, "C")
			return f.Sync()
		}, []string{"x=abC"}},
		{"a failed sync, cut off", func(d *Disk, f disk.File) error {
			write(t, f, 2, "c")
			d.Fail(0, 1, syscall.EIO)
			f.Sync()
			must(t, f.Truncate(2))
			return f.Sync()
		}, []string{"x=ab"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, f := durable(t, "ab")
			must(t, test.do(d, f))
			if got := states(t, d); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Each sector is kept, missing or zeros independently of the others.
func TestStatesOfSectors(t *testing.T) {
	d, f := durable(t, "a")
	write(t, f, 1, strings.Repeat("b", 511)+strings.Repeat("c", 512)+"d")
	got := states(t, d)
	for _, want := range []string{
		"x=a", "x=a0*511", "x=a0*1023", "x=a0*1023d", "x=ab*511", "x=ab*5110*512d",
		"x=a0*511c*512d",
		"x=ab*511c*512", "x=ab*511c*5120", "x=ab*511c*512d", "x=ab*510", "x=ab*511c*511",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no state %q among %d", want, len(got))
		}
	}
}

// With too many combinations for all, the states still have all ends of a file and all
// single decisions.
func TestStatesOfManySectors(t *testing.T) {
	d, f := durable(t, "")
	const sectors = 24
	write(t, f, 0, strings.Repeat("b", sectors*disk.Sector))
	got := states(t, d)
	holed := func(from, to int) string {
		b := []byte(strings.Repeat("b", sectors*disk.Sector))
		clear(b[from:to])
		return "x=" + short(string(b))
	}
	for i := range sectors {
		from, to := i*disk.Sector, (i+1)*disk.Sector
		alone := []byte(strings.Repeat("b", to))
		clear(alone[:from])
		for _, want := range []string{holed(from, to), "x=" + short(string(alone)),
			fmt.Sprintf("x=b*%d", to-1)} {
			if !slices.Contains(got, want) && to < sectors*disk.Sector {
				t.Errorf("no state %q among %d", want, len(got))
			}
		}
	}
	if again := states(t, d); !slices.Equal(got, again) {
		t.Errorf("the states of one disk differ: %d and %d", len(got), len(again))
	}
}

// If an unsynced folder is lost, so is its content.
func TestFolders(t *testing.T) {
	d := New()
	must(t, d.Mkdir("a"))
	f := open(t, d, "a/x")
	must(t, f.Sync())
	must(t, d.SyncDir("a"))
	var got []string
	for state := range d.States() {
		names, err := state.ReadDir("a")
		got = append(got, fmt.Sprint(names, errors.Is(err, fs.ErrNotExist)))
	}
	if want := []string{"[x] false", "[] true"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Crash draws every state and no other, and the same ones for the same seed.
func TestCrash(t *testing.T) {
	begin := func() *Disk {
		d, f := durable(t, "a")
		write(t, f, 1, "bc")
		open(t, d, "y")
		return d
	}
	want := states(t, begin())
	seen := map[string]bool{}
	for seed := range uint64(300) {
		d, again := begin(), begin()
		d.Crash(rand.New(rand.NewPCG(seed, 0)))
		again.Crash(rand.New(rand.NewPCG(seed, 0)))
		got := show(t, d)
		if other := show(t, again); got != other {
			t.Fatalf("seed %d: %q and %q", seed, got, other)
		}
		seen[got] = true
		if left := states(t, d); len(left) != 1 {
			t.Fatalf("after a crash, %q may be left of %q", left, got)
		}
	}
	for state := range seen {
		if !slices.Contains(want, state) {
			t.Errorf("drew %q, which is none of %q", state, want)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("drew %d states of %d", len(seen), len(want))
	}
}

func TestKillKeepsWhatWasWritten(t *testing.T) {
	d, f := durable(t, "a")
	write(t, f, 1, "b")
	if _, err := d.Lock("lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock("lock"); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("second Lock: %v, want ErrLocked", err)
	}
	d.CutAfter(0)
	d.Kill()
	if _, err := f.WriteAt([]byte("z"), 0); !errors.Is(err, ErrPowerOff) {
		t.Errorf("a file of the process that was killed: %v, want ErrPowerOff", err)
	}
	if got := show(t, d); got != "lock= x=ab" {
		t.Errorf("got %q", got)
	}
	held, err := d.Lock("lock")
	must(t, err)
	must(t, held.Close())
	if _, err := d.Lock("lock"); err != nil {
		t.Errorf("Lock after Close: %v", err)
	}
	if got := states(t, d); len(got) < 4 {
		t.Errorf("%d states after a kill, want those of a power cut too", len(got))
	}
}
