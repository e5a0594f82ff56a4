package access

import (
	"errors"
	"fmt"

	"github.com/nats-io/jwt/v2"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// A format is how --format prints the permissions of a user, and the limits of a broker for so many
// devices.
type format struct {
	user   func(*jwt.Permissions, grant.Role) (string, error)
	limits func(devices int) (string, error)
}

// formats are the formats that --format can name.
var formats = map[string]format{
	"conf": {
		user:   func(p *jwt.Permissions, _ grant.Role) (string, error) { return grant.Conf(p), nil },
		limits: func(devices int) (string, error) { return grant.LimitsConf(devices), nil },
	},
	"jwt": {
		user: func(p *jwt.Permissions, role grant.Role) (string, error) {
			return grant.JWT(p, grant.LimitsOf(role))
		},
		limits: grant.LimitsJWT,
	},
}

// Permissions is `zofl permissions`.
func Permissions() *cobra.Command {
	var use grant.Use
	var role, name string
	var devices int
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Print which subjects a part of a run needs",
		Long: `Prints the permissions that a part of a run needs in the broker, and no more. Deny it all
else. The roles:

  device       takes part in the run
  witness      follows it, reports digests and serves snapshots (zofl follow)
  coordinator  leads it (zofl serve), or opens its log in JetStream
  operator     sends commands to its coordinator, and reads the log from it

The format conf is for a user in the configuration of a nats-server. The format jwt has the
same as the claims of a user's JWT, below "nats", and the limits of the user's connections.

With --limits N, it prints the limits of a broker for a run of N devices: at the top of the
configuration of a nats-server, or as the claims of an account's JWT. Without them one device
can fill the broker.

zofl serve --tls --auth makes a broker that has all this: then nothing needs to be written.`,
		Example: `  zofl permissions --run kitchen --role device --device pi-1`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			format, ok := formats[name]
			if !ok {
				return cli.Usage(fmt.Errorf("--format %q: choose conf or jwt", name))
			}
			if cmd.Flags().Changed("limits") {
				return printLimits(cmd, format, devices)
			}
			if use.Run == "" {
				return cli.Usage(errors.New("--run is missing: give the name of the run"))
			}
			p, err := grant.For(grant.Role(role), use)
			if err != nil {
				return cli.Usage(err)
			}
			text, err := format.user(p, grant.Role(role))
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&use.Run, "run", "", "name of the run")
	f.StringVar(&role, "role", string(grant.Device), "part in the run: "+grant.Names())
	f.StringVar(&use.ID, "device", "", "name of the device or witness: its --id")
	f.BoolVar(&use.Dense, "dense", false, "the plan has transport=dense")
	f.BoolVar(&use.Secure, "secure", false, "the plan has secure=sum")
	f.BoolVar(&use.Model, "model", false, "zofl serve has --offer, and devices may fetch the model")
	f.BoolVar(&use.JetStream, "jetstream", false, "the coordinator's log is in JetStream")
	f.BoolVar(&use.Recovered, "recovered", false, "zofl recover made the coordinator's log")
	f.StringVar(&name, "format", "conf", "conf or jwt")
	f.IntVar(&devices, "limits", 0, "print the limits of a broker for a run of so many devices, and "+
		"no permissions")
	return cmd
}

// printLimits prints the limits of a broker. They are the same for all roles.
func printLimits(cmd *cobra.Command, format format, devices int) error {
	if devices < 1 {
		return cli.Usage(fmt.Errorf("--limits %d: give the number of devices, 1 or more", devices))
	}
	if err := cli.Useless(cmd, "--limits prints what is for all: leave out one of the two", "run",
		"role", "device", "dense", "secure", "model", "jetstream", "recovered"); err != nil {
		return err
	}
	text, err := format.limits(devices)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}
