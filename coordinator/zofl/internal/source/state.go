package source

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
)

// Head reads the head of a file with the state of a device. Its error names the file.
func Head(name string) (replica.Head, error) {
	file, err := regular.Open(name)
	if err != nil {
		return replica.Head{}, err
	}
	defer file.Close()
	head, err := replica.ReadHead(file)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return head, err
}

// LoadState reads the state in a file whose head is already read. initial reads the parameters that
// the run began with, if its plan has initial=given; nil: nobody has them. shown, unless nil, wraps
// the reader of a file of the given size, so that a bar shows how much of the file was read.
func LoadState(name string, head *replica.Head, initial func([]float32) error,
	shown func(file io.Reader, size int64) io.Reader) (
	r *replica.Replica, h replica.History, err error,
) {
	file, err := regular.Open(name)
	if err != nil {
		return nil, h, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, h, err
	}
	in := io.Reader(file)
	if shown != nil {
		in = shown(file, info.Size())
	}
	cfg := replica.Config{Run: head.Plan.Run, Dim: head.Plan.Dim, ReadInitial: initial}
	return replica.Load(cfg, in, info.Size())
}

// Digest returns the digest of a state in hexadecimal digits.
func Digest(r *replica.Replica) string {
	d := r.Digest()
	return hex.EncodeToString(d[:])
}
