package device

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/disk"
)

// idFile is the name of the file with the device's id in a directory of state.
const idFile = "id"

// ownStore returns an error if the directory belongs to another device, because the replies and
// control variates in it are that device's. The caller has locked the directory.
func ownStore(dir, id string) error {
	path := filepath.Join(dir, idFile)
	text, err := os.ReadFile(path)
	owner := strings.TrimSpace(string(text))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && owner == "":
		return disk.Replace(disk.OS, path, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, id)
			return err
		})
	case err != nil:
		return err
	case owner != id:
		return cli.Usage(fmt.Errorf("--store %s is the state of device %s, not of %s: name another "+
			"directory, or remove %s if %s takes the place of %s for good", dir, owner, id, path, id,
			owner))
	}
	return nil
}
