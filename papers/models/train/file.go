package train

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// magic begins a file of parameters, and ends with the version of the format. After magic come
// the number of parameters as a little-endian uint64, each parameter as a little-endian float32,
// and the SHA-256 of everything before it.
const magic = "zoflpar1"

// Save writes params to a file. If Save is interrupted, the path holds either the old file or the
// complete new file.
func Save(path string, params []float32) error {
	b := binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(params)))
	for _, v := range params {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	sum := sha256.Sum256(b)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	defer os.Remove(f.Name()) // fails once it was renamed
	if _, err = f.Write(append(b, sum[:]...)); err == nil {
		err = f.Sync()
	}
	err = cmp.Or(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("train: save %s: %w", path, err)
	}
	return nil
}

// Load reads dim parameters of a model that [Save] wrote. The error of a missing file matches
// fs.ErrNotExist.
func Load(path string, dim int) ([]float32, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	const head, tail = len(magic) + 8, sha256.Size
	if len(b) < head+tail || !bytes.HasPrefix(b, []byte(magic)) {
		return nil, fmt.Errorf("train: %s is no file of parameters: delete it, and train again",
			path)
	}
	body, sum := b[:len(b)-tail], sha256.Sum256(b[:len(b)-tail])
	if !bytes.Equal(b[len(body):], sum[:]) {
		return nil, fmt.Errorf(
			"train: %s is damaged, its checksum is wrong: delete it, and train again", path)
	}
	n := binary.LittleEndian.Uint64(body[len(magic):])
	body = body[head:]
	if n != uint64(dim) || len(body)%4 != 0 || uint64(len(body)/4) != n {
		return nil, fmt.Errorf("train: %s has %d parameters in %d bytes, the model has %d: "+
			"delete it, and train again", path, n, len(body), dim)
	}
	params := make([]float32, dim)
	for i := range params {
		params[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
	}
	return params, nil
}
