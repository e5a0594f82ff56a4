package enrol

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// accountFile returns the path, in the directory, where the server looks for an account.
func accountFile(public string) string { return filepath.Join("accounts", public+".jwt") }

// makeAccounts makes the accounts that have no file yet, and gives the run's its limits.
func (d *Dir) makeAccounts(about About) error {
	system, err := d.accountClaims(d.system)
	if errors.Is(err, fs.ErrNotExist) {
		system.Name = "system"
		err = d.writeAccount(system)
	}
	if err != nil {
		return err
	}
	run, err := d.accountClaims(d.account)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	devices, err := d.devices()
	if err != nil {
		return err
	}
	run.Name = about.Run
	run.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit,
		DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	grant.LimitAccount(&run.Limits, max(devices, about.Members))
	return d.writeAccount(run)
}

// accountClaims reads an account. If the account has no file, accountClaims returns a new one and
// an error that matches [fs.ErrNotExist].
func (d *Dir) accountClaims(pair nkeys.KeyPair) (*jwt.AccountClaims, error) {
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(d.file(accountFile(public)))
	if err != nil {
		return jwt.NewAccountClaims(public), err
	}
	return jwt.DecodeAccountClaims(string(text))
}

func (d *Dir) writeAccount(claims *jwt.AccountClaims) error {
	text, err := claims.Encode(d.operator)
	if err != nil {
		return err
	}
	return d.write(accountFile(claims.Subject), []byte(text))
}

// devices counts the devices and witnesses that are enrolled.
func (d *Dir) devices() (n int, err error) {
	users, err := d.Users()
	for _, u := range users {
		if u.Role.HasID() && !u.Revoked {
			n++
		}
	}
	return n, err
}

// Widen raises the limit of connections of a run for which more devices are enrolled than the limit
// was made for. tell sends the account to the running broker, as it does for [Dir.Revoke]. Widen
// returns the error of tell: the limit then rises at the broker's next start.
func (d *Dir) Widen(tell func(account string) error) error {
	devices, err := d.devices()
	if err != nil {
		return err
	}
	claims, err := d.accountClaims(d.account)
	if err != nil {
		return err
	}
	// Two connections for each, as the broker allows, and as many for all others as it allows.
	if claims.Limits.Conn < 0 || int64(2*devices+grant.Others) <= claims.Limits.Conn {
		return nil
	}
	grant.LimitAccount(&claims.Limits, devices)
	text, err := claims.Encode(d.operator)
	if err != nil {
		return err
	}
	told := tell(text)
	return errors.Join(d.write(accountFile(claims.Subject), []byte(text)), told)
}
