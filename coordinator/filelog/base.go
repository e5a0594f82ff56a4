package filelog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

var _ runlog.Based = (*Log)(nil)

// startFormat is the content of the file "start" in a log that begins with a state. The file "base"
// holds the state. The file "start" has the fields of a runlog.Base, and then the SHA-256 of the
// lines before.
const startFormat = "zofl start 1\nn %d\nhash %x\nepoch %d\nrounds %d\nfirst %x\nplan %x\n" +
	"digest %x\nsize %d\nbase %x\n"

// A base is the state with which a log begins.
type base struct {
	runlog.Base
	state disk.File
}

func startText(b *runlog.Base) []byte {
	text := fmt.Appendf(nil, startFormat, b.N, b.Hash[:], b.Epoch, b.Rounds, b.First, b.Plan,
		b.Digest[:], b.Size, b.Content[:])
	return fmt.Appendf(text, "sha256 %x\n", sha256.Sum256(text))
}

// readStart reads what startText returned. The error matches [runlog.ErrCorrupt].
func readStart(text []byte) (b runlog.Base, err error) {
	var hash, digest, content []byte
	fields := []any{nil, &b.N, &hash, &b.Epoch, &b.Rounds, &b.First, &b.Plan, &digest, &b.Size,
		&content}
	for i, line := range bytes.Split(text, []byte{'\n'}) {
		if i == 0 || i >= len(fields) {
			continue
		}
		_, value, _ := bytes.Cut(line, []byte{' '})
		switch to := fields[i].(type) {
		case *[]byte:
			*to, _ = hex.DecodeString(string(value)) // compared below
		default:
			_, _ = fmt.Sscan(string(value), to) // compared below, too
		}
	}
	copy(b.Hash[:], hash)
	copy(b.Digest[:], digest)
	copy(b.Content[:], content)
	if b.N == 0 || !bytes.Equal(startText(&b), text) {
		return b, fmt.Errorf("%w: checksum differs", runlog.ErrCorrupt)
	}
	return b, nil
}

// openBase opens the state with which the log begins, unless the log begins with record 1.
func (f *Log) openBase() error {
	text, err := readWhole(f.fs, f.path("start"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := readStart(text)
	if err != nil {
		return err
	}
	state, err := f.fs.Open(f.path("base"), os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("%w: %w", runlog.ErrCorrupt, err)
	}
	f.base = &base{b, state}
	if err := checkState(state, &b); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	f.tail, f.led, f.first = b.Tip(), b.Epoch, wire.HashRecord(b.First)
	return nil
}

func checkState(state disk.File, b *runlog.Base) error {
	size, err := state.Size()
	sum := sha256.New()
	if err == nil && size == b.Size {
		_, err = io.Copy(sum, io.NewSectionReader(state, 0, size))
	}
	if err == nil && [32]byte(sum.Sum(nil)) != b.Content {
		err = fmt.Errorf("%w: checksum differs", runlog.ErrCorrupt)
	}
	return err
}

// start returns the index of the record after which the log begins.
func (f *Log) start() uint64 {
	if f.base == nil {
		return 0
	}
	return f.base.N
}

// Base implements [runlog.Based].
func (f *Log) Base() *runlog.Base {
	if f.base == nil {
		return nil
	}
	return &f.base.Base
}

// State implements [runlog.Based].
func (f *Log) State() io.ReaderAt { return f.base.state }
