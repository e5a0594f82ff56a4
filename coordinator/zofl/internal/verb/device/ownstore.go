package device

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
)

// itemID is the item of a store that holds the device's id.
const itemID = "id"

// ownStore returns an error if the store in a directory belongs to another device, because the
// replies and control variates in it are that device's.
func ownStore(store client.Store, dir, id string) error {
	var owner string
	err := store.Load(itemID, func(r *io.SectionReader) error {
		text, err := io.ReadAll(r)
		owner = strings.TrimSpace(string(text))
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && owner == "":
		return store.Save(itemID, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, id)
			return err
		})
	case err != nil:
		return err
	case plan.CheckName(owner) != nil:
		file := filepath.Join(dir, itemID)
		return cli.Usage(fmt.Errorf("--store %s: %s is damaged, it is %.40q and no id: write %s into it "+
			"if the directory is the state of that device, else name another directory", dir, file, owner,
			id))
	case owner != id:
		return cli.Usage(fmt.Errorf("--store %s is the state of device %s, not of %s: name another "+
			"directory, or remove %s if %s takes the place of %s for good", dir, owner, id,
			filepath.Join(dir, itemID), id, owner))
	}
	return nil
}
