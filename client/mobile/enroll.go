package mobile

import (
	"errors"
	"strings"

	"github.com/zofl/zofl/client/enroll"
	"github.com/zofl/zofl/client/mobile/internal/creds"
)

// Enroll sets the run, the device, the server, the authority of its certificate, the credentials
// and the coordinator's key, if it has one, from the line that `zofl device add NAME --qr` prints,
// also as a QR code. Then set only the model, the objective, and the settings that the app wants to
// change. The line is a secret: store it as you would a password, and call Enroll with it at each
// start. It replaces the settings of AddServer, SetCA, SetTrust and SetCredentials. If it fails,
// nothing changes.
func (c *Config) Enroll(line string) (err error) {
	defer guard(&err)
	card, err := enroll.Parse(line)
	switch {
	case errors.Is(err, enroll.ErrVersion):
		return faultf(CodeUpgrade, "Enroll: %w", err)
	case err != nil:
		return faultf(CodeConfig, "Enroll: %w", err)
	case !strings.HasPrefix(card.JWT, "eyJ"): // else the seed alone would do
		return &fault{CodeCredentials, creds.Refuse("the line has no JWT")}
	}
	var next Config
	if err := next.AddServer(card.URL); err != nil {
		return err
	}
	if err := next.SetCredentials(card.JWT + "\n" + card.Seed); err != nil {
		return err
	}
	c.Run, c.Device = card.Run, card.ID
	if card.Key != "" {
		c.Coordinator = card.Key
	}
	c.servers, c.credentials = next.servers, next.credentials
	c.SetTrust(nil)
	c.pin = card.Authority[:]
	return nil
}
