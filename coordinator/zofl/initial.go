package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// An initialChoice holds the flags that say at which parameters a run begins.
type initialChoice struct {
	file  string
	train []string // patterns of the names of tensors
}

// flags adds the flags of a command that computes the model.
func (c *initialChoice) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.file, "initial", "", "file with the initial parameters, if the plan "+
		"says that they are given: .f32, .npy, .npz, .safetensors or .onnx")
	c.trainFlag(cmd)
}

func (c *initialChoice) trainFlag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&c.train, "train", nil, "which tensors of the file are the "+
		"parameters: a `list` of names, in which * stands for any text and ? for a character; "+
		"default: all")
}

// read returns the initial parameters, or nil if no file is named.
func (c *initialChoice) read() ([]float32, error) {
	if c.file == "" {
		return nil, c.unused()
	}
	if !isModel(c.file) {
		x, err := vector.Read(c.file)
		if err != nil {
			return nil, usageError{fmt.Errorf("--initial: %w", err)}
		}
		return x, c.nameless()
	}
	chosen, err := c.open()
	if err != nil {
		return nil, err
	}
	defer chosen.Close()
	return chosen.params()
}

// unused returns an error if there are names, and no file that has them.
func (c *initialChoice) unused() error {
	if len(c.train) > 0 {
		return usageError{fmt.Errorf("--train %v: it names tensors of a file: add --initial FILE, or "+
			"leave it out", c.train)}
	}
	return nil
}

// nameless returns an error if tensors are named of a file that has one without a name.
func (c *initialChoice) nameless() error {
	if len(c.train) > 0 {
		return usageError{fmt.Errorf("--train %v: %s has one tensor without a name: leave it out",
			c.train, c.file)}
	}
	return nil
}

// isModel says whether a file has tensors with names.
func isModel(name string) bool {
	return slices.Contains([]string{".npz", ".safetensors", ".onnx"}, tensors.Format(name))
}

// A model is an open model file, and which of its tensors are the parameters.
type model struct {
	*tensors.File
	*tensors.Selection
}

// open opens the file and chooses its tensors.
func (c *initialChoice) open() (*model, error) { return openModel("--initial", c.file, c.train) }

// openModel opens a model file that a flag names.
func openModel(flag, name string, train []string) (*model, error) {
	file, err := tensors.Open(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	chosen, err := file.Select(train)
	if err != nil {
		return nil, errors.Join(usageError{fmt.Errorf("%s: %w", flag, err)}, file.Close())
	}
	return &model{file, chosen}, nil
}

func (m *model) params() ([]float32, error) {
	x, err := m.Params()
	if err != nil {
		err = usageError{err}
	}
	return x, err
}
