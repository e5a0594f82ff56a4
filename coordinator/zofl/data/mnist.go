package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MNISTMean and MNISTStd are the mean and standard deviation of the pixels of MNIST's training
// images, on the scale where ink is 1. Published experiments on MNIST usually subtract this mean
// and divide by this deviation.
const (
	MNISTMean = 0.1307
	MNISTStd  = 0.3081
)

// These constants are the standard names of MNIST's four files. Each name may also end in ".gz".
const (
	trainImages = "train-images-idx3-ubyte"
	trainLabels = "train-labels-idx1-ubyte"
	testImages  = "t10k-images-idx3-ubyte"
	testLabels  = "t10k-labels-idx1-ubyte"
)

// mnistClasses is the number of labels of MNIST. Fashion-MNIST and KMNIST have the same file format
// and number of labels, and MNIST reads them too.
const mnistClasses = 10

// MNIST reads the training and the test set from the four standard IDX files in dir, plain or
// gzipped: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
// t10k-labels-idx1-ubyte, each with or without ".gz". MNIST reads any set of ten classes in these
// files. Errors name the file, the fault and the remedy; if a file is missing the error matches
// fs.ErrNotExist.
func MNIST(dir string) (train, test *Images, err error) {
	if train, err = readPair(dir, trainImages, trainLabels); err != nil {
		return nil, nil, err
	}
	if test, err = readPair(dir, testImages, testLabels); err != nil {
		return nil, nil, err
	}
	if train.Rows != test.Rows || train.Cols != test.Cols {
		return nil, nil, fmt.Errorf("data: %s: training images are %dx%d, test images %dx%d: "+
			"put the four files of one data set there",
			dir, train.Rows, train.Cols, test.Rows, test.Cols)
	}
	return train, test, nil
}

// readPair reads one set of images: a file of pixels and the file of their labels.
func readPair(dir, images, labels string) (*Images, error) {
	imagesPath, err := find(dir, images)
	if err != nil {
		return nil, err
	}
	labelsPath, err := find(dir, labels)
	if err != nil {
		return nil, err
	}
	shape, pixels, err := readIDX(imagesPath, 3)
	if err != nil {
		return nil, err
	}
	count, classes, err := readIDX(labelsPath, 1)
	if err != nil {
		return nil, err
	}
	if count[0] != shape[0] {
		return nil, fmt.Errorf("data: %s: %d labels, but %s has %d images: "+
			"take both files from the same download", labelsPath, count[0], imagesPath, shape[0])
	}
	for i, c := range classes {
		if c >= mnistClasses {
			return nil, fmt.Errorf("data: %s: label %d is %d, of classes 0 to %d: download it again",
				labelsPath, i, c, mnistClasses-1)
		}
	}
	return &Images{Rows: shape[1], Cols: shape[2], Classes: mnistClasses,
		Pixels: pixels, Labels: classes}, nil
}

// find returns the path of a file in dir, plain or gzipped.
func find(dir, name string) (string, error) {
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, name+".gz")} {
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("data: %w", err)
		}
	}
	return "", fmt.Errorf("data: %s: %w, neither plain nor as .gz: "+
		"download MNIST's four IDX files there",
		filepath.Join(dir, name), fs.ErrNotExist)
}
