package filelog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// writeEpoch replaces the whole file "epoch". The file has the number twice. So readEpoch detects
// damage, and a person can still write the file by hand.
const epochFormat = "zofl epoch 1\n%d\n%[1]d\n"

// maxEpochFile is larger than any valid file.
const maxEpochFile = 64

// readEpoch returns the epoch in a file, or 0 if there is no file. Without the file, no coordinator
// has begun, or a version without epochs wrote the log.
//
// The records cannot replace a damaged file: the epoch of a coordinator that stored no record is
// only in the file.
func readEpoch(fsys disk.FS, path string) (uint64, error) {
	file, err := fsys.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	b := make([]byte, maxEpochFile)
	n, err := readAt(file, b, 0)
	if err = errors.Join(err, file.Close()); err != nil {
		return 0, err
	}
	var epoch uint64
	got := string(b[:n])
	if _, err := fmt.Sscanf(got, "zofl epoch 1\n%d\n", &epoch); err != nil ||
		got != fmt.Sprintf(epochFormat, epoch) {
		return 0, fmt.Errorf("epoch: %w: write into it a number larger than every epoch that "+
			"this run's coordinators have shown, as three lines: %q", runlog.ErrCorrupt,
			fmt.Sprintf(epochFormat, 100))
	}
	return epoch, nil
}

func writeEpoch(fsys disk.FS, path string, epoch uint64) error {
	return disk.Replace(fsys, path, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, epochFormat, epoch)
		return err
	})
}
