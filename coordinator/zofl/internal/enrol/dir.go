package enrol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/textfile"
	"github.com/zofl/zofl/wire/signed"
)

// An About says what a directory is for.
type About struct {
	Run string `json:"run"`
	// Dense says that the run's plan has transport=dense.
	Dense bool `json:"dense"`
	// Secure says that the run's plan has secure=sum.
	Secure bool `json:"secure,omitempty"`
	// Model says that devices may fetch the model from the coordinator.
	Model bool `json:"model,omitempty"`
	// Members is how many devices the run's plan needs.
	Members int `json:"members,omitempty"`
	// Listen is the broker's address, host:port. URL is the broker's address for devices,
	// tls://host:port.
	Listen string `json:"listen"`
	URL    string `json:"url"`
	// Coordinator is the key with which the coordinator signs; "" if it does not sign.
	Coordinator string `json:"coordinator,omitempty"`
}

// ErrNone means that a directory has no users yet.
var ErrNone = errors.New("not made by `zofl serve --tls --auth`")

// A Dir is an open directory of users. Its process holds the directory's lock until Close.
type Dir struct {
	About
	path                      string
	operator, account, system nkeys.KeyPair
	lock                      io.Closer
}

// lockWithin bounds the wait until another command unlocks a directory.
const lockWithin = 10 * time.Second

// Make opens a directory for a run, and creates missing files. Make returns an error if the
// directory belongs to another run.
func Make(path string, about About) (*Dir, error) {
	for _, dir := range []string{path, filepath.Join(path, "accounts"),
		filepath.Join(path, "users")} {
		err := disk.MakeDir(disk.OS, dir)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	d, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := d.begin(about); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Dir) begin(about About) error {
	if err := d.read("about.json", &d.About); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if d.Run != "" && d.Run != about.Run {
		return fmt.Errorf("%s: it has the users of run %s, not of %s: give each run a directory",
			d.path, d.Run, about.Run)
	}
	if err := d.keys(true); err != nil {
		return err
	}
	about.Members = max(about.Members, d.Members)
	if err := d.makeAccounts(about); err != nil {
		return err
	}
	about.Coordinator = d.About.Coordinator
	about.Dense = about.Dense || d.Dense // a log in JetStream is not open yet, so its plan is unknown
	about.Secure = about.Secure || d.Secure
	about.Model = about.Model || d.Model
	d.About = about
	return d.writeJSON("about.json", about)
}

// KeyFile is the default name of the file with the coordinator's key.
const KeyFile = "coordinator.key"

// SpokenFor stores the public keys with which the coordinator signs. Later cards contain these
// keys.
func (d *Dir) SpokenFor(keys signed.Keys) error {
	d.About.Coordinator = keys.String()
	return d.writeJSON("about.json", d.About)
}

// Open opens a directory that [Make] made. The error matches [ErrNone] if the directory has no
// users.
func Open(path string) (*Dir, error) {
	if _, err := os.Stat(filepath.Join(path, "about.json")); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrNone, err)
	}
	d, err := open(path)
	if err != nil {
		return nil, err
	}
	if err = d.read("about.json", &d.About); err == nil {
		err = d.keys(false)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open locks a directory. open returns an error if users other than the owner can read its secrets
// or replace its files.
func open(path string) (*Dir, error) {
	d, err := locked(path)
	if err != nil {
		return nil, err
	}
	if err := d.checkModes(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// secrets are the files whose readers could connect as any user, or act as the broker or the
// coordinator.
var secrets = []string{"operator.seed", "account.seed", "system.seed", "ca.key", "server.key",
	KeyFile}

// checkModes returns an error if users other than the owner can read a secret or replace a file. A
// copy that was restored may have any mode.
func (d *Dir) checkModes() error {
	err := cli.CheckDir(d.path)
	for _, name := range secrets {
		if err == nil {
			err = cli.CheckMode(d.file(name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// locked locks a directory.
func locked(path string) (*Dir, error) {
	absolute, err := filepath.Abs(path) // nats.conf contains the path
	if err != nil {
		return nil, err
	}
	d := &Dir{path: absolute}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		d.lock, err = disk.OS.Lock(d.file("lock"))
		if !errors.Is(err, disk.ErrLocked) || time.Since(began) > lockWithin {
			return d, err
		}
	}
}

// Close unlocks the directory.
func (d *Dir) Close() error { return d.lock.Close() }

func (d *Dir) file(names ...string) string {
	return filepath.Join(append([]string{d.path}, names...)...)
}

// keys reads the keys. With create, it creates missing files.
func (d *Dir) keys(create bool) error {
	for _, k := range []struct {
		name string
		pair *nkeys.KeyPair
		make func() (nkeys.KeyPair, error)
	}{
		{"operator.seed", &d.operator, nkeys.CreateOperator},
		{"account.seed", &d.account, nkeys.CreateAccount},
		{"system.seed", &d.system, nkeys.CreateAccount},
	} {
		seed, err := os.ReadFile(d.file(k.name))
		switch {
		case err == nil:
			*k.pair, err = nkeys.FromSeed(bytes.TrimSpace(textfile.UTF8(seed)))
		case create && errors.Is(err, fs.ErrNotExist):
			if *k.pair, err = k.make(); err == nil {
				err = d.keep(k.name, *k.pair)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.file(k.name), err)
		}
	}
	return nil
}

func (d *Dir) keep(name string, pair nkeys.KeyPair) error {
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	return d.write(name, seed)
}

// write replaces a file. Only the owner can read the new file.
func (d *Dir) write(name string, content []byte) error {
	return disk.Replace(disk.OS, d.file(name), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func (d *Dir) writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return d.write(name, append(b, '\n'))
}

func (d *Dir) read(name string, v any) error {
	b, err := os.ReadFile(d.file(name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(textfile.JSON(b), v); err != nil {
		return fmt.Errorf("%s: %w", d.file(name), err)
	}
	return nil
}
