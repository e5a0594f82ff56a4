// Package access has the commands that decide who may take part: device add and revoke,
// permissions.
package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mdp/qrterminal/v3"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/enrol"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// Device is `zofl device`.
func Device() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "device",
		Short: "Add, list and revoke those who may take part",
		Long: `Adds, lists and revokes users of a broker that zofl serve --tls --auth started: devices,
witnesses and operators.`,
		Example: `  zofl device add pi-1 --auth kitchen.auth`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage(fmt.Errorf("unknown command %q; see %s --help", args[0],
					cmd.CommandPath()))
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(deviceAddCommand(), deviceListCommand(), deviceRevokeCommand())
	return cmd
}

// authFlag adds the flag that names the directory of users.
func authFlag(cmd *cobra.Command, auth *string) {
	cmd.Flags().StringVar(auth, "auth", "", "directory that zofl serve --tls --auth made")
}

// openAuth opens the directory of users, and returns an error unless the command has one argument,
// the name of a user.
func openAuth(cmd *cobra.Command, auth string, args []string) (*enrol.Dir, error) {
	if len(args) != 1 {
		return nil, cli.Usage(fmt.Errorf("%d names: give one; see %s --help", len(args),
			cmd.CommandPath()))
	}
	return dirOf(auth)
}

// dirOf opens the directory of users.
func dirOf(auth string) (*enrol.Dir, error) {
	if auth == "" {
		return nil, cli.Usage(errors.New("--auth is missing: give the directory of " +
			"zofl serve --tls --auth"))
	}
	d, err := enrol.Open(auth)
	if errors.Is(err, enrol.ErrNone) {
		err = cli.Usage(fmt.Errorf("--auth: %w", err))
	}
	return d, err
}

func deviceAddCommand() *cobra.Command {
	var auth, role, out string
	var valid time.Duration
	code := false
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Let a device, witness or operator in",
		Long: `Makes a user, and writes what it needs to the file NAME.creds: its JWT, its seed, and the
certificate of the broker's authority. The user may publish and subscribe what its role needs,
and no more. The file also names the coordinator's key, and zofl then takes nothing unsigned. The
broker need not be told.

NAME is the --id of a device or witness. The file is a secret: whoever has it is that user.
Nothing keeps a copy of the seed. If the file is lost, revoke NAME and add it again.

With --valid the credentials expire after a time such as 720h (30 days), and with them the QR code
and the line. Then the broker closes the user's connections. A device says so, and waits: give the
command again before that time, and put the new file in the place of the old one. zofl reads the
file at each connection. zofl device list says who has credentials, and until when.

With --qr the same is printed as a QR code and one line of text, for a phone, and no file is
written. The line is

  zofl:?v=1&url=URL&run=RUN&id=NAME&ca=FINGERPRINT&seed=SEED&jwt=JWT&key=KEY

KEY is the coordinator's, ed25519:..., with : as %3A. FINGERPRINT is the SHA-256 of the authority's
certificate, in base64url. The broker sends that certificate after its own.`,
		Example: `  zofl device add pi-1 --auth kitchen.auth
  zofl client --url tls://127.0.0.1:4222 --creds pi-1.creds --run kitchen --id pi-1`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			d, err := openAuth(cmd, auth, args)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.Close()) }()
			name := args[0]
			if valid < 0 || cmd.Flags().Changed("valid") && valid < time.Second {
				return cli.Usage(fmt.Errorf("--valid %v: give a time such as 720h, or leave it out for "+
					"credentials that do not expire", valid))
			}
			if code {
				if err := cli.Useless(cmd, "--qr writes no file: leave out one of the two",
					"out"); err != nil {
					return err
				}
				return printCard(cmd, d, grant.Role(role), name, valid)
			}
			out = cmp.Or(out, name+".creds")
			return writeCard(cmd, d, grant.Role(role), name, out, valid)
		},
	}
	authFlag(cmd, &auth)
	f := cmd.Flags()
	f.StringVar(&role, "role", string(grant.Device), "device, witness or operator; coordinator, for "+
		"a broker that runs apart from zofl serve")
	f.StringVar(&out, "out", "", "file to write, which must be new; default: NAME.creds")
	f.DurationVar(&valid, "valid", 0, "after which the credentials expire, as 720h; default: never")
	f.BoolVar(&code, "qr", false, "print a QR code and a line of text, and write no file")
	return cmd
}

// writeCard adds a user and writes its creds file.
func writeCard(cmd *cobra.Command, d *enrol.Dir, role grant.Role, name, out string,
	valid time.Duration) error {
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if d.Interrupted(name, path) {
		flag &^= os.O_EXCL // the file of the interrupted command may exist, and is empty
	}
	file, err := os.OpenFile(out, flag, 0o600)
	if err != nil {
		return cli.Usage(fmt.Errorf("--out: %w: give the name of a new file", err))
	}
	card, err := d.AddTo(role, name, path, valid)
	var content []byte
	if err == nil {
		content, err = card.Creds()
	}
	if err != nil {
		return cli.Usage(errors.Join(err, file.Close(), os.Remove(out)))
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := d.Written(name); err != nil {
		return err
	}
	if err := widen(cmd, d); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s may take part in run %s, as %s, at %s%s: give it the file "+
		"%s, on a way that nobody else reads\n", name, card.Run, role, card.URL, until(card.Until),
		filepath.Clean(out))
	return nil
}

// until says when credentials expire, if they do.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", until " + t.Format(time.DateTime) + " (UTC)"
}

// printCard adds a user and prints the user's card.
func printCard(cmd *cobra.Command, d *enrol.Dir, role grant.Role, name string,
	valid time.Duration) error {
	card, err := d.AddTo(role, name, "", valid)
	if err != nil {
		return cli.Usage(err)
	}
	line, err := card.Line()
	if err == nil {
		err = widen(cmd, d)
	}
	if err != nil {
		return err
	}
	qrterminal.GenerateHalfBlock(line, qrterminal.L, cmd.OutOrStdout())
	_, err = fmt.Fprintln(cmd.OutOrStdout(), line)
	return err
}

// widen makes room for the connections of one more device.
func widen(cmd *cobra.Command, d *enrol.Dir) error {
	var told error
	err := d.Widen(func(account string) error {
		told = tellBroker(cmd.Context(), d, account)
		return told
	})
	switch {
	case errors.Is(told, nats.ErrNoServers): // no broker runs: the next one knows
		return nil
	case told != nil:
		return cli.Absent(fmt.Errorf("the device is enrolled, but the broker at %s was not told to "+
			"take more connections: it is from its next start on: %w", connect.Reachable(d.Listen), err))
	}
	return err
}

func deviceRevokeCommand() *cobra.Command {
	var auth string
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Shut a device, witness or operator out",
		Long: `Withdraws a user's permission. The running broker closes its connections and lets it in no
more. The run goes on. So that no round waits for it, give zofl retire, too.

If no broker runs, the revocation holds from its next start, and the exit code is 3.`,
		Example: `  zofl device revoke pi-1 --auth kitchen.auth`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			d, err := openAuth(cmd, auth, args)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.Close()) }()
			if _, err := d.User(args[0]); errors.Is(err, os.ErrNotExist) {
				return cli.Usage(fmt.Errorf("%s: nobody of this name is enrolled", args[0]))
			}
			var told error
			err = d.Revoke(args[0], func(account string) error {
				told = tellBroker(cmd.Context(), d, account)
				return told
			})
			if told != nil {
				return cli.Absent(fmt.Errorf("%s is shut out from the broker's next start on; the "+
					"broker at %s was not told: if it runs, give the command again: %w", args[0],
					connect.Reachable(d.Listen), err))
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s is shut out\n", args[0])
			}
			return err
		},
	}
	authFlag(cmd, &auth)
	return cmd
}

// tellBroker hands an account to the broker. If the broker runs and takes no connection, tellBroker
// tries again for some seconds.
func tellBroker(ctx context.Context, d *enrol.Dir, account string) error {
	opts, err := d.System()
	if err != nil {
		return err
	}
	opts = append(opts, nats.Name("zofl device"), nats.Timeout(connect.AskWithin))
	var nc *nats.Conn
	for began := time.Now(); nc == nil; time.Sleep(connect.FullPause) {
		nc, err = nats.Connect("tls://"+connect.Reachable(d.Listen), opts...)
		if err != nil && (errors.Is(err, nats.ErrNoServers) || time.Since(began) > connect.FullWithin) {
			return err
		}
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, connect.AskWithin)
	defer cancel()
	return enrol.Tell(ctx, nc, account)
}
