package disktest

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPowerOff is returned by every call while the power is off, and by every call of a
// file or lock that was opened before a crash.
var ErrPowerOff = errors.New("disktest: the power is off")

// faults are the failures that the disk will simulate.
type faults struct {
	off     bool
	cut     bool // the power goes off after left more changes
	left    int
	err     error // count operations return err, after skip more that succeed
	skip    int
	count   int
	read    error
	limited bool // all files together have at most limit bytes
	limit   int64
}

// CutAfter allows n more changes; then the power is off, and every call fails without
// effect until the disk is reopened: as one of [Disk.States], by [Disk.Crash], or by
// [Disk.Kill].
//
// A change is a call that changes the possible states after a power cut: a creation,
// Rename, Remove, WriteAt, Truncate, Sync or SyncDir.
func (d *Disk) CutAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.cut, d.faults.left = true, n
}

// Off reports whether the power is off.
func (d *Disk) Off() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults.off
}

// Fail makes count operations fail with err, after skip more that succeed. A failed WriteAt has
// written the first half of its bytes. After a failed Sync, the bytes may be on the disk or not.
// Other failed operations have no effect.
func (d *Disk) Fail(skip, count int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.skip, d.faults.count, d.faults.err = skip, count, err
}

// Failing reports whether further operations will fail.
func (d *Disk) Failing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults.count > 0
}

// FailReads makes every ReadAt fail with err, or none if err is nil.
func (d *Disk) FailReads(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.read = err
}

// Limit limits the bytes of all files together. A WriteAt beyond that size writes the part that
// fits and returns ENOSPC.
func (d *Disk) Limit(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.limited, d.faults.limit = true, bytes
}

// Used returns the number of bytes of all files together.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return used(d.root)
}

func used(n *node) int64 {
	if n.file != nil {
		return int64(len(n.file.data))
	}
	var sum int64
	for _, child := range n.folder.names {
		sum += used(child)
	}
	return sum
}

// operation is one line of a trace.
type operation struct {
	name, path string
	off, size  int64
	err        error
}

// traceLen is the number of operations in a trace.
const traceLen = 128

// Trace returns the last 128 operations, one a line.
func (d *Disk) Trace() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for i := max(0, d.operations-traceLen); i < d.operations; i++ {
		o := d.trace[i%traceLen]
		fmt.Fprintf(&b, "%4d %s %s", i+1, o.name, o.path)
		if o.size != 0 || o.off != 0 {
			fmt.Fprintf(&b, " %d at %d", o.size, o.off)
		}
		if o.err != nil {
			fmt.Fprintf(&b, ": %v", o.err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// begin records an operation, and returns the error with which the operation must fail, or nil.
func (d *Disk) begin(o operation, change bool) error {
	o.err = d.fault(change)
	d.record(o)
	return o.err
}

func (d *Disk) record(o operation) {
	d.trace[d.operations%traceLen] = o
	d.operations++
}

func (d *Disk) note(event string) { d.record(operation{name: event}) }

func (d *Disk) fault(change bool) error {
	f := &d.faults
	if change && f.cut {
		if f.left == 0 {
			f.off = true
		}
		f.left--
	}
	switch {
	case f.off:
		return ErrPowerOff
	case f.count == 0:
		return nil
	case f.skip > 0:
		f.skip--
		return nil
	}
	f.count--
	return f.err
}
