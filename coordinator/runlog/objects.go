package runlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// Objects stores the vectors that records of a run with [wire.DenseVectors] name.
// The log of such a run must have it, beside [Log]; those of this package do.
// Object may be called from any goroutine, the others from that of the log's Append.
type Objects interface {
	// PutObject stores a vector. When it returns nil, the vector survives a crash.
	// It may be called again with the same, and after an error it is.
	PutObject(ctx context.Context, name ObjectName, data []byte) error

	// Object returns a vector, which is whole: it matches the name's digest. The
	// caller does not change it. Errors match [ErrNoObject] or [ErrCorrupt], and
	// devices are told that there is no such vector, or may pass.
	Object(ctx context.Context, name ObjectName) ([]byte, error)

	// KeepObjects deletes the vectors of records 1..n but these. It never touches
	// those of later records: a coordinator that was deposed, and does not know yet,
	// must not delete what its successor is about to name.
	KeepObjects(ctx context.Context, n uint64, names []ObjectName) error
}

// An ObjectName names a vector by its record. No two coordinators write the same
// name, so that one that failed half way harms none but its own.
type ObjectName struct {
	N      uint64 // the record
	Epoch  uint64 // of the coordinator that wrote the record
	Digest [wire.ObjectLen]byte
}

// An Object is a vector and its name.
type Object struct {
	Name ObjectName
	Data []byte
}

// NameOf returns the name of a vector of record n, which a coordinator of epoch wrote.
func NameOf(n, epoch uint64, data []byte) ObjectName {
	return ObjectName{N: n, Epoch: epoch, Digest: wire.HashObject(data)}
}

// ErrNoObject: the log has no such vector, or no longer.
var ErrNoObject = errors.New("no such vector")

// String returns "<record>-<epoch>-<digest>", which fits file names and subjects.
func (o ObjectName) String() string { return fmt.Sprintf("%d-%d-%x", o.N, o.Epoch, o.Digest) }

// parseObjectName reads what String returns.
func ParseObjectName(s string) (o ObjectName, ok bool) {
	var digest []byte
	if n, err := fmt.Sscanf(s, "%d-%d-%x", &o.N, &o.Epoch, &digest); n != 3 || err != nil || len(digest) != len(o.Digest) {
		return o, false
	}
	copy(o.Digest[:], digest)
	return o, o.String() == s
}

// check returns nil if data is the vector that o names.
func (o ObjectName) Check(data []byte) error {
	if wire.HashObject(data) != o.Digest {
		return fmt.Errorf("%w: its digest differs", ErrCorrupt)
	}
	return nil
}

// objectsOf returns the store of a log, which a plan may need.
func ObjectsOf(log Log) (Objects, error) {
	o, ok := log.(Objects)
	if !ok {
		return nil, fmt.Errorf("%w: Log is a %T, which stores no vectors, and the plan's transport is dense: "+
			"give a log that is also an Objects, as those of packages filelog and jetlog and runlog.Memory are", ErrConfig, log)
	}
	return o, nil
}
