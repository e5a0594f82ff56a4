package device

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/offer"
	"github.com/zofl/zofl/plan"
)

// itemInitial is the item of a store with the initial parameters that the coordinator offered, as
// little-endian float32.
const itemInitial = "initial"

// offeredAtMost bounds the file that a device without --initial takes, in bytes: nobody on the
// device has agreed to more. The parameters of a large model may take twice their own bytes.
const offeredAtMost = 64 << 20

// An offered reads the initial parameters of a device without --initial: those that zofl serve
// offers.
type offered struct {
	*planner
	ctx context.Context // of the command
}

// read sets x to the initial parameters. The store keeps them for the next process.
func (o *offered) read(x []float32) error {
	p, err := o.plan(o.ctx)
	if err != nil {
		return err
	}
	if o.store == nil {
		return o.fetch(p, x)
	}
	if o.kept(p, x) {
		return nil
	}
	if err := o.fetch(p, x); err != nil {
		return err
	}
	return o.store.Save(itemInitial, func(w io.Writer) error {
		return binary.Write(w, binary.LittleEndian, x)
	})
}

// kept sets x to the parameters in the store, if they are those of the plan.
func (o *offered) kept(p *plan.Plan, x []float32) bool {
	err := o.store.Load(itemInitial, func(r *io.SectionReader) error {
		return binary.Read(r, binary.LittleEndian, x)
	})
	return err == nil && bytes.Equal(replica.InitialDigest(x), p.InitialDigest)
}

// fetch sets x to the parameters of the offered file, if they are those of the plan.
func (o *offered) fetch(p *plan.Plan, x []float32) error {
	dir, err := os.MkdirTemp("", "zofl-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "initial")
	request := offer.Request{Conn: o.nc, Run: o.run, ID: o.id, Name: name,
		Most:    max(offeredAtMost, 8*uint64(len(x))),
		Waiting: func(reason string) { o.log.Warn("waiting for the model", "reason", reason) }}
	switch size, err := request.Size(o.ctx); {
	case o.ctx.Err() != nil:
		return context.Cause(o.ctx)
	case err != nil:
		return err
	case size > request.Most:
		return fmt.Errorf("zofl serve offers a model of %d bytes, and without --initial at most %d are "+
			"taken: name a file with --initial, and its hash with --fetch, to fetch it", size,
			request.Most)
	}
	o.log.Info("fetching the initial parameters that zofl serve offers")
	if err := request.Get(o.ctx); err != nil {
		return err
	}
	if name, err = named(name, len(x)); err != nil {
		return err
	}
	found, err := modelfile.ReadOffered(name, p)
	if err != nil {
		return err
	}
	if copy(x, found); !bytes.Equal(replica.InitialDigest(found), p.InitialDigest) {
		return errors.New("zofl serve offers other parameters than those of its plan")
	}
	return nil
}

// named gives a fetched file of a model of dim parameters the ending of its format.
func named(name string, dim int) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	head := make([]byte, 9)
	n, err := io.ReadFull(file, head)
	info, err2 := file.Stat()
	if err := errors.Join(err2, file.Close()); err != nil {
		return "", err
	}
	ending := ".onnx"
	switch {
	case info.Size() == 4*int64(dim):
		ending = ".f32"
	case err != nil:
		return "", fmt.Errorf("zofl serve offers a file of %d bytes, which is no model", n)
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		ending = ".npy"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		ending = ".npz"
	case head[8] == '{':
		ending = ".safetensors"
	}
	return name + ending, os.Rename(name, name+ending)
}

// missingInitial explains an error about initial parameters that no flag names.
func missingInitial(err error) error {
	return cli.Usage(fmt.Errorf("--initial is missing: %w: give the file that the plan was made "+
		"with, or let zofl serve offer it with --offer", err))
}
