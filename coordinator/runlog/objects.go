package runlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// Objects stores the vectors that records name in runs with transport=dense. The log of such a run
// must implement both Objects and [Log]; every log of this module does. Any goroutine may call
// Object. Only the goroutine that calls the log's Append may call PutObject and KeepObjects.
type Objects interface {
	// PutObject stores a vector. When it returns nil, the vector survives a crash. You may put the
	// same vector again; the coordinator does so after an error.
	PutObject(ctx context.Context, name ObjectName, data []byte) error

	// Object returns a vector, which the caller must not change. Object checks the digest in the name.
	// If the error matches [ErrNoObject] or [ErrCorrupt], the coordinator tells devices that the
	// vector is gone. After another error, a later call may succeed.
	Object(ctx context.Context, name ObjectName) ([]byte, error)

	// KeepObjects deletes the vectors of records 1..n except the named ones. A log may delete them
	// after KeepObjects has returned; then the next call returns the error. KeepObjects must keep the
	// vectors of later records. Otherwise a coordinator that does not know yet that it was deposed
	// could delete a vector that its successor is about to name in a record.
	KeepObjects(ctx context.Context, n uint64, names []ObjectName) error
}

// An ObjectName names a vector by its record, its digest, and the epoch of the coordinator that
// wrote it. Two coordinators never write a vector under the same name. So a coordinator that
// crashes while it writes a vector damages only its own vector.
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

// NameOf returns the name of the vector of record n, written by the coordinator of an epoch.
func NameOf(n, epoch uint64, data []byte) ObjectName {
	return ObjectName{N: n, Epoch: epoch, Digest: wire.HashObject(data)}
}

// ErrNoObject: the log does not have the vector, or no longer has it.
var ErrNoObject = errors.New("no such vector")

// String returns "<record>-<epoch>-<digest>". The text is valid as a file name and in a NATS
// subject.
func (o ObjectName) String() string { return fmt.Sprintf("%d-%d-%x", o.N, o.Epoch, o.Digest) }

// ParseObjectName reads a name that String returned; ok is false for any other text.
func ParseObjectName(s string) (o ObjectName, ok bool) {
	var digest []byte
	if n, err := fmt.Sscanf(s, "%d-%d-%x", &o.N, &o.Epoch, &digest); n != 3 || err != nil ||
		len(digest) != len(o.Digest) {
		return o, false
	}
	copy(o.Digest[:], digest)
	return o, o.String() == s
}

// Check returns nil if data is the vector that o names, and otherwise an error that matches
// [ErrCorrupt].
func (o ObjectName) Check(data []byte) error {
	if wire.HashObject(data) != o.Digest {
		return fmt.Errorf("%w: its digest differs", ErrCorrupt)
	}
	return nil
}

// ObjectsOf returns the vector store of a log. The error matches [ErrConfig] if the log stores no
// vectors.
func ObjectsOf(log Log) (Objects, error) {
	o, ok := log.(Objects)
	if !ok {
		return nil, fmt.Errorf("%w: Log: transport=dense needs a log that stores vectors, and a %T "+
			"stores none: give a filelog.Log, a jetlog.Log or a runlog.Memory", ErrConfig, log)
	}
	return o, nil
}
