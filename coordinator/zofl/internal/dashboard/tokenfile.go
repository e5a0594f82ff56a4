package dashboard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/textfile"
)

// TokenFile is the name of the token's file in the directory of a log.
const TokenFile = "dashboard.token"

// LoadToken reads the token in a file that only its owner can read. If the file does not exist,
// LoadToken makes one with a new token. With the file, the token survives a restart, and an open
// page goes on.
func LoadToken(file string) (string, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		token := NewToken()
		return token, disk.Replace(disk.OS, file, func(w io.Writer) error {
			_, err := io.WriteString(w, token+"\n")
			return err
		})
	}
	if err == nil {
		err = cli.CheckMode(file)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(textfile.UTF8(content)))
	if !ValidToken(token) {
		return "", fmt.Errorf("%s: no token: remove the file, and a new one is made", file)
	}
	return token, nil
}
