package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// A set is labeled images for training and for testing, and their normalization.
type set struct {
	train, test *data.Images
	mean, std   float64
}

// mnist reads MNIST from Env.Data, or from its directory mnist.
func (e *Env) mnist() (*set, error) {
	s, err := e.images("mnist")
	if s != nil && e.Generated == 0 {
		s.mean, s.std = data.MNISTMean, data.MNISTStd
	}
	return s, err
}

// images reads a data set of four IDX files from the directory with its name in Env.Data,
// or from Env.Data itself.
func (e *Env) images(name string) (*set, error) {
	s := &set{}
	if e.Generated > 0 {
		s.train, s.test = data.Digits(e.Generated, 1), data.Digits(max(e.Generated/6, 1), 1<<40)
	} else {
		dir, err := e.find(name)
		if err != nil {
			return nil, err
		}
		if s.train, s.test, err = data.MNIST(dir); err != nil {
			return nil, err
		}
	}
	s.mean, s.std = s.train.Moments()
	return s, nil
}

// find returns the directory of a data set.
func (e *Env) find(name string) (string, error) {
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
