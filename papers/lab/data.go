package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// A Set holds labeled images for training and for testing, and their normalization.
type Set struct {
	Train, Test *data.Images
	Mean, Std   float64
}

// MNIST reads MNIST from Env.Data, or from its directory mnist.
func (e *Env) MNIST() (*Set, error) {
	s, err := e.Images("mnist")
	if s != nil && e.Generated == 0 {
		s.Mean, s.Std = data.MNISTMean, data.MNISTStd
	}
	return s, err
}

// Images reads a data set of four IDX files from the directory with its name in Env.Data,
// or from Env.Data itself.
func (e *Env) Images(name string) (*Set, error) {
	s := &Set{}
	if e.Generated > 0 {
		s.Train, s.Test = data.Digits(e.Generated, 1), data.Digits(max(e.Generated/6, 1), 1<<40)
	} else {
		dir, err := e.Find(name)
		if err != nil {
			return nil, err
		}
		if s.Train, s.Test, err = data.MNIST(dir); err != nil {
			return nil, err
		}
	}
	s.Mean, s.Std = s.Train.Moments()
	return s, nil
}

// Find returns the directory of a data set. If there is none, the error says where to put the
// files of the data set.
func (e *Env) Find(name string) (string, error) {
	if e.Data == "" {
		return "", fmt.Errorf("data: no directory is given: set --data or ZOFL_DATA to one "+
			"that has %s/ with its files", name)
	}
	dir := filepath.Join(e.Data, name)
	_, err := os.Stat(dir)
	if err == nil {
		return dir, nil
	}
	if _, fault := os.Stat(e.Data); fault != nil {
		err = fault
	} else if found, _ := filepath.Glob(filepath.Join(e.Data, "*-ubyte*")); len(found) > 0 {
		return e.Data, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("data: %w: put the files of %s there, or set --data or ZOFL_DATA "+
			"to the directory that has %s/", err, name, name)
	}
	return "", fmt.Errorf("data: %w", err)
}
