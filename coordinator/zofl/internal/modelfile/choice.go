// Package modelfile defines the flags that name the file of the initial model, and the file to
// which the trained model is written.
package modelfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
	"github.com/zofl/zofl/plan"
)

// A Choice holds the flags that name the initial parameters of a run.
type Choice struct {
	File  string
	Train []string // patterns of the names of tensors

	flag string // the flag that names File; "": --initial
}

func (c *Choice) name() string { return cmp.Or(c.flag, "--initial") }

// Flags adds the flags of a command that computes the model.
func (c *Choice) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.File, "initial", "",
		"model with which the run begins: .f32 .npy .npz .safetensors .onnx")
	c.TrainFlag(cmd)
}

// TrainFlag adds the flag that chooses tensors of the file.
func (c *Choice) TrainFlag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&c.Train, "train", nil,
		"`tensors` of it that are trained: 'head.*,!*.bias'; default: all floats")
}

// Read returns the initial parameters, or nil if no file is named.
func (c *Choice) Read() ([]float32, error) {
	if c.File == "" {
		return nil, c.Unused()
	}
	if tensors.Format(c.File) == ".f32" {
		x, err := vector.Read(c.File)
		if err != nil {
			return nil, cli.FileFault(c.name(), c.File, err)
		}
		return x, c.nameless()
	}
	chosen, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer chosen.Close()
	return chosen.Params()
}

// ReadFinite reads the parameters as Read does. ReadFinite returns a usage error with the position
// of a parameter that is NaN or infinite.
func (c *Choice) ReadFinite() ([]float32, error) {
	if err := c.CheckFinite(); err != nil {
		return nil, err
	}
	return c.Read()
}

// CheckFinite returns a usage error unless the flags name a file of finite parameters, or no file.
func (c *Choice) CheckFinite() error {
	if c.File == "" {
		return c.Unused()
	}
	return c.EachFinite(func([]float32, uint64) {})
}

// Check returns a usage error unless the flags name a file of parameters, or no file.
func (c *Choice) Check() error {
	if c.File == "" {
		return c.Unused()
	}
	return c.each(func([]float32, *tensors.Tensor, uint64) error { return nil })
}

// Reader returns the function that sets x to the parameters, part by part. Reader returns nil if no
// file is named.
func (c *Choice) Reader() (read func(x []float32) error) {
	if c.File == "" {
		return nil
	}
	return func(x []float32) error {
		rest := x
		return c.each(func(part []float32, _ *tensors.Tensor, n uint64) error {
			if n != uint64(len(x)) {
				return fmt.Errorf("%s %s: the plan's run starts from %d given parameters, this file has "+
					"%d: load the file that the plan was made with", c.name(), c.File, len(x), n)
			}
			rest = rest[copy(rest, part):]
			return nil
		})
	}
}

// EachFinite calls f with the parameters of the file, part by part, and with the number of all
// parameters. EachFinite returns a usage error with the position of a parameter that is NaN or
// infinite.
func (c *Choice) EachFinite(f func(part []float32, n uint64)) error {
	all := finite{file: c.name() + " " + c.File}
	return c.each(func(part []float32, t *tensors.Tensor, n uint64) error {
		f(part, n)
		return all.add(part, t)
	})
}

// each calls f with the parameters of the file, part by part, with the tensor of the part, and with
// the number of all parameters. The memory of each does not grow with the file.
func (c *Choice) each(f func(part []float32, t *tensors.Tensor, n uint64) error) (err error) {
	if tensors.Format(c.File) != ".f32" {
		m, err := c.Open()
		if err != nil {
			return err
		}
		defer m.Close()
		err = m.Selection.Each(func(part []float32, t *tensors.Tensor) error {
			return f(part, t, m.Len)
		})
		if err != nil {
			err = cli.Usage(err)
		}
		return err
	}
	if err := c.nameless(); err != nil {
		return err
	}
	err = vector.Each(c.File, func(part []float32, n int) error {
		return f(part, &tensors.Tensor{Len: uint64(n)}, uint64(n))
	})
	if err != nil {
		err = cli.FileFault(c.name(), c.File, err)
	}
	return err
}

// Digest returns the digest and the number of the parameters. Digest returns a usage error with the
// position of a parameter that is NaN or infinite.
func (c *Choice) Digest() (digest plan.Bytes, dim uint64, err error) {
	h := replica.NewInitialHash(0)
	err = c.EachFinite(func(part []float32, n uint64) {
		if dim == 0 {
			h, dim = replica.NewInitialHash(n), n
		}
		h.Add(part)
	})
	return h.Digest(), dim, err
}

// A finite looks for an element of a file's tensors that is NaN or infinite, because no loss of
// such parameters is a number.
type finite struct {
	file  string // with the flag that names it
	at    uint64 // elements of the present tensor that passed
	bad   uint64 // of these, how many are not finite
	first uint64 // index and value of the first of the bad ones
	value float32
}

// add takes the next elements, of a tensor. The error comes at the end of the tensor, because it
// has the number of bad elements.
func (f *finite) add(part []float32, t *tensors.Tensor) error {
	for i, v := range part {
		if v-v != 0 {
			if f.bad++; f.bad == 1 {
				f.first, f.value = f.at+uint64(i), v
			}
		}
	}
	switch f.at += uint64(len(part)); {
	case f.at < t.Len:
		return nil
	case f.bad == 0:
		f.at = 0
		return nil
	}
	what := "its"
	if t.Name != "" {
		what = fmt.Sprintf("tensor %q: its", t.Name)
	}
	return cli.Usage(fmt.Errorf("%s: %s element %s is %v, and so %d of its %d parameters "+
		"are not finite, where a loss is none: repair the model", f.file, what,
		place(f.first, t.Shape), f.value, f.bad, t.Len))
}

// place writes the index of an element in a tensor. If the tensor has several dimensions, place
// also writes the index in each dimension.
func place(at uint64, shape []uint64) string {
	if len(shape) < 2 {
		return fmt.Sprint(at)
	}
	index, rest := make([]uint64, len(shape)), at
	for d := len(shape) - 1; d >= 0; d-- {
		index[d], rest = rest%shape[d], rest/shape[d]
	}
	return fmt.Sprintf("%d, %v,", at, index)
}

// Unused returns an error if --train names tensors but --initial names no file.
func (c *Choice) Unused() error {
	if len(c.Train) > 0 {
		return cli.Usage(fmt.Errorf("--train %v: it names tensors of a file: add --initial FILE, or "+
			"leave it out", c.Train))
	}
	return nil
}

// nameless returns an error if --train names tensors but the file has a single tensor without a
// name.
func (c *Choice) nameless() error {
	if len(c.Train) > 0 {
		return cli.Usage(fmt.Errorf("--train %v: %s has one tensor without a name: leave it out",
			c.Train, c.File))
	}
	return nil
}

// isModel says whether a file has a format with named tensors.
func isModel(name string) bool {
	return slices.Contains([]string{".npz", ".safetensors", ".onnx"}, tensors.Format(name))
}

// A Model is an open model file with a selection of its tensors, which are the parameters.
type Model struct {
	*tensors.File
	*tensors.Selection
}

// Open opens the file and chooses its tensors.
func (c *Choice) Open() (*Model, error) { return openModel(c.name(), c.File, c.Train) }

// openModel opens a model file that a flag names.
func openModel(flag, name string, train []string) (*Model, error) {
	file, err := tensors.Open(name)
	if err != nil {
		return nil, cli.FileFault(flag, name, err)
	}
	chosen, err := file.Select(train)
	if err != nil {
		return nil, errors.Join(cli.Usage(fmt.Errorf("%s: %w", flag, err)), file.Close())
	}
	return &Model{file, chosen}, nil
}

// Params returns the parameters. Errors are usage errors.
func (m *Model) Params() ([]float32, error) {
	x, err := m.Selection.Params()
	if err != nil {
		err = cli.Usage(err)
	}
	return x, err
}
