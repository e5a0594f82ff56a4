// Package modelfile defines the flags that name the file of the initial model, and the file to
// which the trained model is written.
package modelfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
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
	cmd.Flags().StringVar(&c.File, "initial", "", "file with the initial parameters, if the plan "+
		"says that they are given: .f32, .npy, .npz, .safetensors or .onnx")
	c.TrainFlag(cmd)
}

// TrainFlag adds the flag that chooses tensors of the file.
func (c *Choice) TrainFlag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&c.Train, "train", nil, "which tensors of the file are the "+
		"parameters: a `list` of names, in which * stands for any text and ? for a character, and ! "+
		"leaves out what follows it: *,!*.bias; default: all floats")
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
	if c.File == "" || tensors.Format(c.File) == ".f32" {
		x, err := c.Read()
		if err == nil {
			err = finite(c.name()+" "+c.File, []tensors.Tensor{{Len: uint64(len(x))}}, x)
		}
		return x, err
	}
	chosen, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer chosen.Close()
	return chosen.finite(c.name())
}

// Finite returns the parameters as Params does. Finite returns a usage error with the position of a
// parameter that is NaN or infinite.
func (m *Model) Finite() ([]float32, error) { return m.finite("--initial") }

func (m *Model) finite(flag string) ([]float32, error) {
	x, err := m.Params()
	if err == nil {
		err = finite(flag+" "+m.Name, m.Selection.Tensors, x)
	}
	return x, err
}

// finite returns an error if an element of a file's tensors is NaN or infinite, because no loss of
// such parameters is a number. file is the file with the flag that names it.
func finite(file string, list []tensors.Tensor, x []float32) error {
	for _, t := range list {
		first, bad := -1, 0
		for i, v := range x[:t.Len] {
			if v-v != 0 {
				if bad++; first < 0 {
					first = i
				}
			}
		}
		if bad > 0 {
			what := "its"
			if t.Name != "" {
				what = fmt.Sprintf("tensor %q: its", t.Name)
			}
			return cli.Usage(fmt.Errorf("%s: %s element %s is %v, and so %d of its %d parameters "+
				"are not finite, where a loss is none: repair the model", file, what,
				place(uint64(first), t.Shape), x[first], bad, t.Len))
		}
		x = x[t.Len:]
	}
	return nil
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
