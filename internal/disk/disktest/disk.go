package disktest

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/zofl/zofl/internal/disk"
)

// A Disk is a file system in memory. Paths begin at its root, with or without a slash. Any
// goroutine may call the methods of a Disk.
type Disk struct {
	mu         sync.Mutex // guards the fields below
	root       *node
	locks      map[*node]bool
	life       int // number of the process that uses the disk; a crash starts another
	faults     faults
	trace      [traceLen]operation
	operations int
}

var _ disk.FS = (*Disk)(nil)

// New returns an empty disk.
func New() *Disk {
	return &Disk{root: &node{folder: newFolder()}, locks: map[*node]bool{}}
}

// find returns the folder of a path, the last name of the path, and the node with that
// name, or nil.
func (d *Disk) find(path string) (in *folder, name string, n *node, err error) {
	in, n = d.root.folder, d.root
	parts := strings.FieldsFunc(filepath.ToSlash(filepath.Clean(path)),
		func(r rune) bool { return r == '/' })
	for i, part := range parts {
		if part == "." {
			continue
		}
		if n == nil {
			return nil, "", nil, fs.ErrNotExist
		}
		if n.folder == nil {
			return nil, "", nil, syscall.ENOTDIR
		}
		in, name = n.folder, parts[i]
		n = in.names[name]
	}
	return in, name, n, nil
}

func failed(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// Mkdir implements [disk.FS].
func (d *Disk) Mkdir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	in, name, n, err := d.find(path)
	if err == nil && n != nil {
		err = fs.ErrExist
	}
	err = cmp.Or(d.begin(operation{name: "mkdir", path: path}, err == nil), err)
	if err != nil {
		return failed("mkdir", path, err)
	}
	in.change(rename{to: name, node: &node{folder: newFolder()}})
	return nil
}

// Open implements [disk.FS].
func (d *Disk) Open(path string, flag int) (disk.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.open("open", path, flag)
	if err != nil {
		return nil, failed("open", path, err)
	}
	return &handle{disk: d, file: n.file, path: path, life: d.life, flag: flag}, nil
}

func (d *Disk) open(op, path string, flag int) (*node, error) {
	in, name, n, err := d.find(path)
	switch {
	case err != nil:
	case n == nil && flag&os.O_CREATE == 0:
		err = fs.ErrNotExist
	case n != nil && flag&os.O_EXCL != 0:
		err = fs.ErrExist
	case n != nil && n.file == nil:
		err = syscall.EISDIR
	}
	cut := n != nil && flag&os.O_TRUNC != 0
	err = cmp.Or(d.begin(operation{name: op, path: path}, err == nil && (n == nil || cut)), err)
	if err != nil {
		return nil, err
	}
	if n == nil {
		n = &node{file: &file{}}
		in.change(rename{to: name, node: n})
	} else if cut {
		n.file.change(change{truncate: true})
	}
	return n, nil
}

// Rename implements [disk.FS].
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	in, name, n, err := d.find(from)
	target, newName, _, bad := d.find(to)
	switch {
	case err != nil:
	case bad != nil:
		err = bad
	case n == nil:
		err = fs.ErrNotExist
	case in != target:
		err = fmt.Errorf("disktest: %s and %s are not in one folder", from, to)
	}
	err = cmp.Or(d.begin(operation{name: "rename", path: from + " " + to}, err == nil), err)
	if err != nil {
		return failed("rename", from, err)
	}
	in.change(rename{from: name, to: newName, node: n})
	return nil
}

// Remove implements [disk.FS].
func (d *Disk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	in, name, n, err := d.find(path)
	switch {
	case err != nil:
	case n == nil || n == d.root:
		err = fs.ErrNotExist
	case n.folder != nil && len(n.folder.names) > 0:
		err = syscall.ENOTEMPTY
	}
	err = cmp.Or(d.begin(operation{name: "remove", path: path}, err == nil), err)
	if err != nil {
		return failed("remove", path, err)
	}
	in.change(rename{from: name, node: n})
	return nil
}

// ReadDir implements [disk.FS].
func (d *Disk) ReadDir(path string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.dir("readdir", path, false)
	if err != nil {
		return nil, failed("readdir", path, err)
	}
	return slices.Sorted(maps.Keys(n.names)), nil
}

// SyncDir implements [disk.FS].
func (d *Disk) SyncDir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.dir("syncdir", path, true)
	if err != nil {
		return failed("syncdir", path, err)
	}
	n.sync()
	return nil
}

func (d *Disk) dir(op, path string, change bool) (*folder, error) {
	_, _, n, err := d.find(path)
	switch {
	case err != nil:
	case n == nil:
		err = fs.ErrNotExist
	case n.folder == nil:
		err = syscall.ENOTDIR
	}
	err = cmp.Or(d.begin(operation{name: op, path: path}, change && err == nil), err)
	if err != nil {
		return nil, err
	}
	return n.folder, nil
}

// Lock implements [disk.FS].
func (d *Disk) Lock(path string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.open("lock", path, os.O_RDWR|os.O_CREATE)
	if err == nil && d.locks[n] {
		err = disk.ErrLocked
	}
	if err != nil {
		return nil, failed("lock", path, err)
	}
	d.locks[n] = true
	return &lock{d, n, d.life}, nil
}

type lock struct {
	disk *Disk
	node *node
	life int
}

func (l *lock) Close() error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.disk.faults.off || l.life != l.disk.life {
		return ErrPowerOff
	}
	delete(l.disk.locks, l.node)
	return nil
}
