package dirstore_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zofl/zofl/internal/dirstore"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
)

func openDir(t testing.TB, fsys disk.FS, dir string) *dirstore.Store {
	t.Helper()
	s, err := dirstore.Open(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func saveText(s *dirstore.Store, item, text string) error {
	return s.Save(item, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// textOf returns an item, and "" if there is none.
func textOf(t testing.TB, s *dirstore.Store, item string) string {
	t.Helper()
	var text []byte
	err := s.Load(item, func(r *io.SectionReader) (err error) {
		text, err = io.ReadAll(r)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return string(text)
}

// What was saved is there when the store is opened again.
func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "store")
	for i := range 2 {
		s, err := dirstore.Open(disk.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, s, "checkpoint"); (got == "third") != (i == 1) {
			t.Errorf("open %d: checkpoint is %q", i, got)
		}
		for _, text := range []string{"first", strings.Repeat("second", 50_000), "third"} {
			if err := saveText(s, "checkpoint", text); err != nil {
				t.Fatal(err)
			}
			if got := textOf(t, s, "checkpoint"); got != text {
				t.Errorf("%d bytes, want %d", len(got), len(text))
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for path, want := range map[string]fs.FileMode{".": 0o700, "..": 0o700, "checkpoint": 0o600,
		"store.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && filepath.Separator == '/' {
			t.Errorf("%s has mode %v, want %v", path, got, want)
		}
	}
}

func TestDirStoreIsLocked(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, disk.OS, dir)
	_, err := dirstore.Open(disk.OS, dir)
	if !errors.Is(err, dirstore.ErrLocked) || !strings.Contains(err.Error(), "folder of its own") {
		t.Errorf("second open: %v, want ErrStoreLocked and what to do", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := openDir(t, disk.OS, dir).Close(); err != nil {
		t.Error(err)
	}
}

func TestDirStoreChecksItems(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openDir(t, disk.OS, dir)
	defer s.Close()
	for _, item := range []string{"", "..", "../x", "a/b", `a\b`, "a.b", "A", "checkpoint.bad",
		"a\x00", strings.Repeat("a", 33)} {
		load := s.Load(item, func(*io.SectionReader) error { return nil })
		for _, err := range []error{saveText(s, item, "text"), load, s.SetAside(item)} {
			if err == nil || !strings.Contains(err.Error(), "a-z 0-9 - _") {
				t.Errorf("item %q: %v, want what names are like", item, err)
			}
		}
	}
	if err := saveText(s, "a-9_"+strings.Repeat("z", 28), "text"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("files beside the store: %v, %v", left, err)
	}
}

func TestDirStoreSetsAside(t *testing.T) {
	d := disktest.New()
	s := openDir(t, d, "store")
	for _, text := range []string{"first", "second"} {
		if err := errors.Join(saveText(s, "reply", text), s.SetAside("reply")); err != nil {
			t.Fatal(err)
		}
		for state := range d.States() {
			again := openDir(t, state, "store")
			file, err := state.Open("store/reply.bad", os.O_RDONLY)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := io.ReadAll(io.NewSectionReader(file, 0, 100))
			if got := textOf(t, again, "reply"); got != "" || err != nil || string(kept) != text {
				t.Errorf("item is %q, aside is %q, %v, want %q aside", got, kept, err, text)
			}
		}
	}
	if err := s.SetAside("reply"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to set aside: %v, want ErrNotExist", err)
	}
	if err := saveText(s, "reply", "third"); err != nil {
		t.Fatal(err)
	}
	d.Fail(1, 1, syscall.EIO)
	if err := s.SetAside("reply"); !errors.Is(err, syscall.EIO) {
		t.Errorf("the folder cannot be synced: %v, want EIO", err)
	}
}

func TestDirStoreReadErrors(t *testing.T) {
	d := disktest.New()
	s := openDir(t, d, "store")
	if err := s.Load("reply", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no item: %v, want ErrNotExist", err)
	}
	if err := saveText(s, "reply", "text"); err != nil {
		t.Fatal(err)
	}
	read := func(r *io.SectionReader) error {
		_, err := io.ReadAll(r)
		return err
	}
	ours := errors.New("ours")
	if err := s.Load("reply", func(*io.SectionReader) error { return ours }); !errors.Is(err,
		ours) {
		t.Errorf("%v, want the reader's error", err)
	}
	for skip, name := range []string{"open", "size", "read", "close"} {
		d.Fail(skip, 1, syscall.EIO)
		if err := s.Load("reply", read); !errors.Is(err, syscall.EIO) ||
			!strings.HasPrefix(err.Error(), "load reply: "+name) {
			t.Errorf("%s fails: %v, want EIO and what was done", name, err)
		}
	}
	d.Kill()
	if err := s.Close(); !errors.Is(err, disktest.ErrPowerOff) {
		t.Errorf("close of a lock that is gone: %v", err)
	}
}

// diary saves two items in turn, and knows what each may be.
type diary struct {
	saved map[string]string // Save returned nil
	tried map[string]string // and what it was called with last
	errs  []error
}

var pages = []struct{ item, text string }{
	{"checkpoint", strings.Repeat("a", 1500)}, {"reply", "b"}, {"checkpoint", "c"},
	{"reply", strings.Repeat("d", 600)}, {"checkpoint", strings.Repeat("e", 40)},
}

func (y *diary) run(d *disktest.Disk) {
	*y = diary{saved: map[string]string{}, tried: map[string]string{}}
	for i, page := range pages {
		if i == 0 || i == 3 {
			y.open(d)
		}
		s, err := dirstore.Open(d, "a/store")
		if err != nil {
			y.errs = append(y.errs, err)
			continue
		}
		y.tried[page.item] = page.text
		if err := saveText(s, page.item, page.text); err != nil {
			y.errs = append(y.errs, err)
		} else {
			y.saved[page.item] = page.text
		}
		if err := s.Close(); err != nil {
			y.errs = append(y.errs, err)
		}
	}
}

// open opens the store and closes it.
func (y *diary) open(d *disktest.Disk) {
	s, err := dirstore.Open(d, "a/store")
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		y.errs = append(y.errs, err)
	}
}

// check opens what a crash left: each item is what was saved last, or what was
// to be saved after it, whole; and saving goes on.
func (y *diary) check(t *testing.T, d *disktest.Disk) {
	t.Helper()
	s := openDir(t, d, "a/store")
	names, err := d.ReadDir("a/store")
	if slices.ContainsFunc(names,
		func(name string) bool { return strings.HasSuffix(name, "-new") }) {
		t.Fatalf("files %v are left, %v\n%s", names, err, d.Trace())
	}
	for _, item := range []string{"checkpoint", "reply"} {
		got := textOf(t, s, item)
		if got != y.saved[item] && !y.later(item, got) {
			t.Fatalf("%s is %q, want %q or a later one\n%s", item, got, y.saved[item], d.Trace())
		}
		if err := saveText(s, item, "again"); err != nil || textOf(t, s, item) != "again" {
			t.Fatalf("%s cannot be saved: %v\n%s", item, err, d.Trace())
		}
	}
	names, err = d.ReadDir("a/store")
	if want := []string{"checkpoint", "reply", "store.lock"}; err != nil ||
		!slices.Equal(names, want) {
		t.Fatalf("files %v, %v, want %v\n%s", names, err, want, d.Trace())
	}
}

// later says whether text was handed to Save after what was saved last.
func (y *diary) later(item, text string) bool {
	after := y.saved[item] == ""
	for _, page := range pages {
		if page.item == item && after && page.text == text {
			return y.tried[item] != ""
		}
		after = after || page.item == item && page.text == y.saved[item]
	}
	return false
}

func TestDirStorePowerCuts(t *testing.T) {
	var y diary
	states := 0
	for d := range disktest.Crashes(y.run) {
		states++
		y.check(t, d)
	}
	if y.saved["reply"] != pages[3].text || len(y.errs) > 0 {
		t.Errorf("undisturbed: %v", y.errs)
	}
	if states < 500 {
		t.Errorf("%d states, want hundreds", states)
	}
}

// After a process was killed, what the next one reads survives a power cut.
func TestDirStoreKilled(t *testing.T) {
	for changes, off := 0, true; off; changes++ {
		d := disktest.New()
		d.CutAfter(changes)
		var y diary
		y.run(d)
		off = d.Off()
		d.Kill()
		s := openDir(t, d, "a/store")
		checkpoint, reply := textOf(t, s, "checkpoint"), textOf(t, s, "reply")
		for state := range d.States() {
			again := openDir(t, state, "a/store")
			if c, r := textOf(t, again, "checkpoint"),
				textOf(t, again, "reply"); c != checkpoint || r != reply {
				t.Fatalf("read %q and %q before the power cut, %q and %q after it\n%s", checkpoint,
					reply, c, r, state.Trace())
			}
		}
	}
}

// Whatever operation fails, the call says so, and the items are as after a
// crash.
func TestDirStoreFaults(t *testing.T) {
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		var y diary
		for d := range disktest.Faults(fault, y.run) {
			failed := slices.ContainsFunc(y.errs,
				func(err error) bool { return errors.Is(err, fault) })
			// A folder that is there need not be made.
			needless := strings.Contains(d.Trace(), "mkdir a/store: "+fault.Error())
			if failed == d.Failing() && !needless {
				t.Errorf("errors %v\n%s", y.errs, d.Trace())
			}
			for state := range d.States() {
				y.check(t, state)
			}
			d.Kill()
			y.check(t, d)
		}
	}
}

func TestDirStoreFull(t *testing.T) {
	d := disktest.New()
	s := openDir(t, d, "store")
	if err := saveText(s, "checkpoint", "old"); err != nil {
		t.Fatal(err)
	}
	for room := range int64(6) {
		d.Limit(d.Used() + room)
		err := saveText(s, "checkpoint", "longer")
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "save checkpoint: ") {
			t.Errorf("%d bytes free: %v, want ENOSPC and what was done", room, err)
		}
		if got := textOf(t, s, "checkpoint"); got != "old" {
			t.Errorf("%d bytes free: checkpoint is %q, want the old one", room, got)
		}
	}
	d.Limit(d.Used() + 6)
	if err := saveText(s, "checkpoint", "longer"); err != nil {
		t.Errorf("6 bytes free: %v", err)
	}
}
